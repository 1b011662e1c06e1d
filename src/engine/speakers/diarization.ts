import type { ClusteringOptions } from './clustering.js';
import { voicesOf } from './clustering.js';
import { CondensedItems } from './condensed-items.js';
import type { EmbeddingModel } from './embedding-model.js';
import { OwnLikeness, type LocalItem } from './own-likeness.js';
import { withinRegions, type SpeechRegion } from './known-speech.js';
import { inPieces } from './pieces.js';
import type { SegmentationModel } from './segmentation-model.js';
import { slidingWindows } from './sliding-windows.js';
import type { SpeakerTurn } from './speaker-turn.js';
import { turnsOf, type NamedWindow } from './turns.js';
import { assignedVoices } from './voice-assignment.js';
import {
  speakersIn,
  spokenSamples,
  spokenSeconds,
  spokenSpans,
  type WindowActivity,
} from './window-activity.js';

export interface SpeakerModels {
  segmentation: SegmentationModel;
  embedding: EmbeddingModel;
}

export interface DiarizationOptions extends ClusteringOptions {
  /** From the start of one window to that of the next. */
  stepSeconds: number;
  /** When anybody speaks, where that is known. */
  regions?: readonly SpeechRegion[];
}

export interface DiarizationContext {
  signal: AbortSignal;
  /** Seconds of the file that have been heard. */
  progress: (seconds: number) => Promise<void>;
}

/** What is known of the voices of a file. */
interface Heard {
  reliable: CondensedItems;
  all: CondensedItems;
  likeness: OwnLikeness;
  /** Of speech. */
  seconds: number;
}

/** A window with the voices of its speakers; null where too little was heard of one. */
interface HeardWindow extends WindowActivity {
  embeddings: (Float32Array | null)[];
}

const RATE = 16_000;
/** Samples that a voice is not told by fewer of, however often they are repeated. */
const LEAST_SAMPLES = RATE / 5;
/** Seconds of one voice alone that count for finding out who is there. */
const RELIABLE_SECONDS = 1;

/**
 * Who speaks when in what `read` gives (see SampleReader), window by window: memory grows by some kilobytes a minute of speech. Rejects with
 * the signal's reason, and as the models and `read` do.
 */
export async function diarize(
  read: (count: number) => Promise<Float32Array>,
  models: SpeakerModels,
  options: DiarizationOptions,
  { signal, progress }: DiarizationContext,
): Promise<SpeakerTurn[]> {
  const { windowSamples: length, grid } = models.segmentation;
  const known = { ...models, segmentation: within(options.regions, models.segmentation) };
  const windows: HeardWindow[] = [];
  const heard: Heard = {
    ...{ reliable: new CondensedItems(), all: new CondensedItems(), likeness: new OwnLikeness(), seconds: 0 },
  };
  let end = 0;
  for await (const { start, samples } of slidingWindows(read, {
    length,
    step: Math.round(options.stepSeconds * RATE),
  })) {
    signal.throwIfAborted();
    const window = await hear(samples, start, known, heard);
    heard.seconds += spokenSeconds(window, end, grid);
    windows.push(window);
    end = start + samples.length;
    await progress(end / RATE);
  }
  const voices = knownVoices(heard, options);
  const named = windows.map((window): NamedWindow => ({
    ...window,
    voices: assignedVoices(window, window.embeddings, voices),
  }));
  return turnsOf(named, grid, end / RATE);
}

function within(
  regions: readonly SpeechRegion[] | undefined,
  segmentation: SegmentationModel,
): SegmentationModel {
  if (regions === undefined) return segmentation;
  return {
    ...segmentation,
    segment: async (samples, start) =>
      withinRegions(await segmentation.segment(samples, start), regions, segmentation.grid),
  };
}

/** Of those who speak alone for long enough; where that is nobody, or fewer than there are, of all. */
function knownVoices(
  { reliable, all, likeness, seconds }: Heard,
  options: DiarizationOptions,
): Float32Array[] {
  const facts = { seconds, ownLikeness: likeness.mean };
  const voices = voicesOf(reliable.items, facts, options);
  return voices.length >= Math.max(1, options.minSpeakers) ? voices : voicesOf(all.items, facts, options);
}

async function hear(
  samples: Float32Array,
  start: number,
  { segmentation, embedding }: SpeakerModels,
  heard: Heard,
): Promise<HeardWindow> {
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
    heard.all.add(item);
    if (aloneSamples.length < RELIABLE_SECONDS * RATE) continue;
    heard.reliable.add(item);
    reliable.push({ ...item, local: window.locals[speaker] ?? -1 });
  }
  heard.likeness.add(reliable);
  return { ...window, embeddings };
}

/** Repeated from its start, where it is too short. */
function longEnough(samples: Float32Array, count: number): Float32Array {
  if (samples.length >= count) return samples;
  return Float32Array.from({ length: count }, (_, index) => samples[index % samples.length] ?? 0);
}
