import { PowerSpectrum } from './fourier.js';
import { kaldiFilters, through } from './mel-filters.js';

export interface KaldiOptions {
  window: 'hamming' | 'povey';
  /** What samples are multiplied by first. */
  scale: number;
}

export const BANDS = 80;
const FRAME = 400;
const HOP = 160;
const SIZE = 512;
const EMPHASIS = 0.97;
/** Kaldi's least power: the distance from 1 to the next float32. */
const LEAST = 2 ** -23;

/**
 * Kaldi's filter bank of 16 kHz samples without dither, less the mean of each band: [frames, BANDS]. Whole frames only:
 * of fewer than 400 samples there is none.
 */
export class KaldiFeatures {
  readonly #spectrum = new PowerSpectrum(SIZE);
  readonly #filters = kaldiFilters({ bands: BANDS, size: SIZE, rate: 16_000, lowest: 20 });
  readonly #window: Float64Array;
  readonly #scale: number;

  constructor({ window, scale }: KaldiOptions) {
    this.#scale = scale;
    this.#window = Float64Array.from({ length: FRAME }, (_, index) => {
      const cosine = Math.cos((2 * Math.PI * index) / (FRAME - 1));
      return window === 'hamming' ? 0.54 - 0.46 * cosine : (0.5 - 0.5 * cosine) ** 0.85;
    });
  }

  compute(samples: Float32Array): Float32Array {
    const frames = samples.length < FRAME ? 0 : 1 + Math.floor((samples.length - FRAME) / HOP);
    const out = new Float32Array(frames * BANDS);
    const [frame, power, bands] = [FRAME, SIZE / 2 + 1, BANDS].map((length) => new Float64Array(length));
    if (frame === undefined || power === undefined || bands === undefined) return out;
    for (let index = 0; index < frames; index++) {
      this.#fill(frame, samples.subarray(index * HOP, index * HOP + FRAME));
      this.#spectrum.compute(frame, power);
      through(this.#filters, power, bands);
      for (let band = 0; band < BANDS; band++) out[index * BANDS + band] = Math.log(Math.max(LEAST, bands[band] ?? 0));
    }
    return withoutMean(out);
  }

  /** Each frame's own mean is taken off before the emphasis of what is high. */
  #fill(frame: Float64Array, samples: Float32Array): void {
    const mean = samples.reduce((sum, sample) => sum + sample, 0) / FRAME;
    let before = (samples[0] ?? 0) - mean;
    for (let index = 0; index < FRAME; index++) {
      const sample = (samples[index] ?? 0) - mean;
      frame[index] = this.#scale * (sample - EMPHASIS * before) * (this.#window[index] ?? 0);
      before = sample;
    }
  }
}

function withoutMean(features: Float32Array): Float32Array {
  const frames = features.length / BANDS;
  for (let band = 0; band < BANDS; band++) {
    let sum = 0;
    for (let frame = 0; frame < frames; frame++) sum += features[frame * BANDS + band] ?? 0;
    for (let frame = 0; frame < frames; frame++)
      features[frame * BANDS + band] = (features[frame * BANDS + band] ?? 0) - sum / frames;
  }
  return features;
}
