import type { ClusteringOptions } from './clustering.js';
import { voicesOf } from './clustering.js';
import { CondensedItems } from './condensed-items.js';
import type { EmbeddingModel } from './embedding-model.js';
import { OwnLikeness, type LocalItem } from './own-likeness.js';
import { inPieces } from './pieces.js';
import type { SegmentationModel } from './segmentation-model.js';
import { slidingWindows } from './sliding-windows.js';
import type { SpeakerTurn } from './speaker-turn.js';
import { turnsOf, type NamedWindow } from './turns.js';
import { assignedVoices } from './voice-assignment.js';
import { speakersIn, spokenSamples, spokenSeconds, spokenSpans, type WindowActivity } from './window-activity.js';

export interface SpeakerModels {
  segmentation: SegmentationModel;
  embedding: EmbeddingModel;
}

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

/** A window with the voices of its speakers; null where one has too little speech. */
interface EmbeddedWindow extends WindowActivity {
  embeddings: (Float32Array | null)[];
}

const RATE = 16_000;
/** Fewest samples by which a voice is recognised, not counting repetitions. */
const LEAST_SAMPLES = RATE / 5;
/** Seconds of one voice alone that an item needs to count in the search for voices. */
const RELIABLE_SECONDS = 1;

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
    const window = await embedVoices(samples, start, models, found);
    found.seconds += spokenSeconds(window, end, grid);
    windows.push(window);
    end = start + samples.length;
  }
  const voices = knownVoices(found, options);
  const named = windows.map((window): NamedWindow => ({
    ...window,
    voices: assignedVoices(window, window.embeddings, voices),
  }));
  return turnsOf(named, grid, end / RATE);
}

/** Of those who speak alone for long enough; where that is nobody, or fewer than there are, of all. */
function knownVoices({ reliable, all, likeness, seconds }: FoundVoices, options: DiarizationOptions): Float32Array[] {
  const facts = { seconds, ownLikeness: likeness.mean };
  const voices = voicesOf(reliable.items, facts, options);
  return voices.length >= Math.max(1, options.minSpeakers) ? voices : voicesOf(all.items, facts, options);
}

async function embedVoices(
  samples: Float32Array,
  start: number,
  { segmentation, embedding }: SpeakerModels,
  found: FoundVoices,
): Promise<EmbeddedWindow> {
  const window = inPieces(await segmentation.segment(samples, start), segmentation.grid);
  const embeddings: (Float32Array | null)[] = [];
  const reliable: LocalItem[] = [];
  for (let speaker = 0; speaker < speakersIn(window); speaker++) {
    const spoken = (alone: boolean): Float32Array =>
      spokenSamples(samples, spokenSpans(window, speaker, segmentation.grid, alone));
    const aloneSamples = spoken(true);
    const ofSpeaker = aloneSamples.length >= embedding.minSamples ? aloneSamples : spoken(false);
    if (ofSpeaker.length < LEAST_SAMPLES) {
      embeddings.push(null);
      continue;
    }
    const vector = await embedding.embed(longEnough(ofSpeaker, embedding.minSamples));
    embeddings.push(vector);
    const item = { vector, weight: ofSpeaker.length / RATE };
    found.all.add(item);
    if (aloneSamples.length < RELIABLE_SECONDS * RATE) continue;
    found.reliable.add(item);
    reliable.push({ ...item, local: window.locals[speaker] ?? -1 });
  }
  found.likeness.add(reliable);
  return { ...window, embeddings };
}

/** Repeated from its start, where it is too short. */
function longEnough(samples: Float32Array, count: number): Float32Array {
  if (samples.length >= count) return samples;
  return Float32Array.from({ length: count }, (_, index) => samples[index % samples.length] ?? 0);
}
