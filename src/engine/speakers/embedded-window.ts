/** A window of audio with the voices of those who speak in it. */
import type { EmbeddingModel } from './embedding-model.js';
import { inPieces, type PiecedWindow } from './pieces.js';
import type { SegmentationModel } from './segmentation-model.js';
import { speakersIn, spokenSamples, spokenSpans } from './window-activity.js';

export interface SpeakerModels {
  segmentation: SegmentationModel;
  embedding: EmbeddingModel;
}

export interface EmbeddedVoice {
  /** See EmbeddingModel. */
  vector: Float32Array;
  /** Of speech that it was computed from. */
  seconds: number;
  /** Whether it speaks alone for long enough to count in the search for voices. */
  isReliable: boolean;
}

export interface EmbeddedWindow extends PiecedWindow {
  /** Of each piece; null: it has too little speech. */
  voices: (EmbeddedVoice | null)[];
}

const RATE = 16_000;
/** Fewest samples by which a voice is recognised, not counting repetitions. */
const LEAST_SAMPLES = RATE / 5;
/** Seconds of one voice alone that an item needs to count in the search for voices. */
const RELIABLE_SECONDS = 1;

/** Rejects as the models do. Samples: at most those of the segmentation's window. */
export async function embedVoices(
  samples: Float32Array,
  start: number,
  { segmentation, embedding }: SpeakerModels,
): Promise<EmbeddedWindow> {
  const window = inPieces(await segmentation.segment(samples, start), segmentation.grid);
  const voices: EmbeddedWindow['voices'] = [];
  for (let piece = 0; piece < speakersIn(window); piece++) {
    const spoken = (alone: boolean): Float32Array =>
      spokenSamples(samples, spokenSpans(window, piece, segmentation.grid, alone));
    const aloneSamples = spoken(true);
    const ofPiece = aloneSamples.length >= embedding.minSamples ? aloneSamples : spoken(false);
    if (ofPiece.length < LEAST_SAMPLES) {
      voices.push(null);
      continue;
    }
    const vector = await embedding.embed(longEnough(ofPiece, embedding.minSamples));
    const isReliable = aloneSamples.length >= RELIABLE_SECONDS * RATE;
    voices.push({ vector, seconds: ofPiece.length / RATE, isReliable });
  }
  return { ...window, voices };
}

/** Repeated from its start, where it is too short. */
function longEnough(samples: Float32Array, count: number): Float32Array {
  if (samples.length >= count) return samples;
  return Float32Array.from({ length: count }, (_, index) => samples[index % samples.length] ?? 0);
}
