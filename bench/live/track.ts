/** What a live session speaks: recordings one after the other, with silence between them. */
import type { SampleBinding } from '../../src/engine/binding.js';
import { toIntegers } from '../../src/live/sample-integers.js';
import type { Clip } from '../load/clips.js';

export const TRACK_RATE = 16_000;

export interface Track {
  /** At TRACK_RATE, mono. */
  samples: Int16Array;
  clips: Clip[];
}

export interface TrackOptions {
  /** At least so long, as whole clips. */
  seconds: number;
  /** Before the first clip, between two, and behind the last. */
  gapSeconds: number;
}

type Samples = (path: string) => Promise<Int16Array>;

/** Speaks the clips in their order, again from the first one where they are too few. */
export async function trackOf(clips: readonly Clip[], samplesOf: Samples, options: TrackOptions): Promise<Track> {
  const silence = new Int16Array(Math.round(options.gapSeconds * TRACK_RATE));
  const pieces: Int16Array[] = [silence];
  const spoken: Clip[] = [];
  let length = silence.length;
  for (let i = 0; length < options.seconds * TRACK_RATE; i++) {
    const clip = clips[i % clips.length];
    if (clip === undefined) throw new RangeError('There are no clips.');
    const samples = await samplesOf(clip.path);
    pieces.push(samples, silence);
    spoken.push(clip);
    length += samples.length + silence.length;
  }
  const all = new Int16Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return { samples: all, clips: spoken };
}

const MOST_AT_ONCE = 160_000;

/** Reads each file once. Rejects as `openSamples` does. */
export function sampleReader(binding: Pick<SampleBinding, 'openSamples'>): Samples {
  const known = new Map<string, Promise<Int16Array>>();
  return (path) => {
    const samples = known.get(path) ?? readSamples(binding, path);
    known.set(path, samples);
    return samples;
  };
}

async function readSamples(binding: Pick<SampleBinding, 'openSamples'>, path: string): Promise<Int16Array> {
  const reader = await binding.openSamples(path);
  const pieces: number[] = [];
  try {
    for (;;) {
      const piece = await reader.read(MOST_AT_ONCE);
      for (const sample of toIntegers(piece)) pieces.push(sample);
      if (piece.length < MOST_AT_ONCE) return Int16Array.from(pieces);
    }
  } finally {
    reader.close();
  }
}

/** Samples on each side that a sample between two is made of. */
const REACH = 16;

/** A track at another rate, which is no lower: by a windowed sinc. */
export function resampled(samples: Int16Array, rate: number): Int16Array {
  if (rate === TRACK_RATE) return samples;
  const result = new Int16Array(Math.floor((samples.length * rate) / TRACK_RATE));
  for (let i = 0; i < result.length; i++) {
    const at = (i * TRACK_RATE) / rate;
    const first = Math.ceil(at) - REACH;
    let sum = 0;
    for (let k = first; k < first + 2 * REACH; k++) sum += (samples[k] ?? 0) * kernel(at - k);
    result[i] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return result;
}

function kernel(x: number): number {
  if (x === 0) return 1;
  const sinc = Math.sin(Math.PI * x) / (Math.PI * x);
  return sinc * (0.5 + 0.5 * Math.cos((Math.PI * x) / (REACH + 1)));
}
