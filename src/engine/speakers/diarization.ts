import type { ClusteringOptions } from './clustering.js';
import { voicesOf } from './clustering.js';
import { CondensedItems } from './condensed-items.js';
import { embedVoices, type EmbeddedWindow, type SpeakerModels } from './embedded-window.js';
import { OwnLikeness, type LocalItem } from './own-likeness.js';
import { slidingWindows } from './sliding-windows.js';
import type { SpeakerTurn } from './speaker-turn.js';
import { turnsOf, type NamedWindow } from './turns.js';
import { assignedVoices } from './voice-assignment.js';
import { spokenSeconds } from './window-activity.js';

export interface DiarizationOptions extends ClusteringOptions {
  /** Between the starts of two neighbouring windows. */
  stepSeconds: number;
}

/** The voices of a file, as found so far. */
interface FoundVoices {
  reliable: CondensedItems;
  all: CondensedItems;
  likeness: OwnLikeness;
  /** Of speech. */
  seconds: number;
}

const RATE = 16_000;

/**
 * Who speaks when in what `read` gives (see SampleReader), window by window: memory grows by some kilobytes a minute of
 * speech. Rejects with the signal's reason, and as the models and `read` do.
 */
export async function diarize(
  read: (count: number) => Promise<Float32Array>,
  models: SpeakerModels,
  options: DiarizationOptions,
  signal: AbortSignal,
): Promise<SpeakerTurn[]> {
  const { windowSamples: length, grid } = models.segmentation;
  const windows: EmbeddedWindow[] = [];
  const found: FoundVoices = {
    ...{ reliable: new CondensedItems(), all: new CondensedItems(), likeness: new OwnLikeness(), seconds: 0 },
  };
  let end = 0;
  for await (const { start, samples } of slidingWindows(read, {
    length,
    step: Math.round(options.stepSeconds * RATE),
  })) {
    signal.throwIfAborted();
    const window = await embedVoices(samples, start, models);
    collect(window, found);
    found.seconds += spokenSeconds(window, end, grid);
    windows.push(window);
    end = start + samples.length;
  }
  const voices = knownVoices(found, options);
  const named = windows.map((window): NamedWindow => ({
    ...window,
    voices: assignedVoices(
      window,
      window.voices.map((voice) => voice?.vector ?? null),
      voices,
    ),
  }));
  return turnsOf(named, grid, end / RATE);
}

/** Of those who speak alone for long enough; where that is nobody, or fewer than there are, of all. */
function knownVoices({ reliable, all, likeness, seconds }: FoundVoices, options: DiarizationOptions): Float32Array[] {
  const facts = { seconds, ownLikeness: likeness.mean };
  const voices = voicesOf(reliable.items, facts, options);
  return voices.length >= Math.max(1, options.minSpeakers) ? voices : voicesOf(all.items, facts, options);
}

/** The voices of a window count in the search. */
function collect({ voices, locals }: EmbeddedWindow, found: FoundVoices): void {
  const reliable: LocalItem[] = [];
  for (const [piece, voice] of voices.entries()) {
    if (voice === null) continue;
    const item = { vector: voice.vector, weight: voice.seconds };
    found.all.add(item);
    if (!voice.isReliable) continue;
    found.reliable.add(item);
    reliable.push({ ...item, local: locals[piece] ?? -1 });
  }
  found.likeness.add(reliable);
}
