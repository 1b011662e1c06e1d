import { PowerSpectrum } from './fourier.js';
import { slaneyFilters, through } from './mel-filters.js';

export interface NemoFeatureBlock {
  /** [bands, frames]; values behind `length` are 0. */
  values: Float32Array;
  /** A multiple of 16. */
  frames: number;
  /** Frames that hold sound. */
  length: number;
}

const FRAME = 400;
const HOP = 160;
const SIZE = 512;
const EMPHASIS = 0.97;
/** What keeps logarithms and quotients finite. */
const POWER_GUARD = 2 ** -24;
const SPREAD_GUARD = 1e-5;
const MULTIPLE = 16;

/** The log-mels of NeMo's AudioToMelSpectrogramPreprocessor of 16 kHz samples, each band at mean 0 and variance 1. */
export class NemoFeatures {
  readonly #spectrum = new PowerSpectrum(SIZE);
  readonly #filters;
  readonly #window: Float64Array;

  constructor(private readonly bands: number) {
    this.#filters = slaneyFilters({ bands, size: SIZE, rate: 16_000, lowest: 0 });
    this.#window = Float64Array.from(
      { length: FRAME },
      (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / (FRAME - 1)),
    );
  }

  /** Of at least SIZE samples. */
  compute(samples: Float32Array): NemoFeatureBlock {
    const { bands } = this;
    const length = 1 + Math.floor(samples.length / HOP);
    const frames = Math.ceil(length / MULTIPLE) * MULTIPLE;
    const values = new Float32Array(bands * frames);
    const sound = emphasized(samples);
    const frame = new Float64Array(FRAME);
    const power = new Float64Array(SIZE / 2 + 1);
    const sums = new Float64Array(bands);
    for (let index = 0; index < length; index++) {
      this.#fill(frame, sound, index * HOP - FRAME / 2);
      this.#spectrum.compute(frame, power);
      through(this.#filters, power, sums);
      for (let band = 0; band < bands; band++)
        values[band * frames + index] = Math.log((sums[band] ?? 0) + POWER_GUARD);
    }
    for (let band = 0; band < bands; band++) normalize(values.subarray(band * frames, band * frames + length));
    return { values, frames, length };
  }

  /** Sound is reflected where it begins and ends. Where a frame lies in its transform does not change its power. */
  #fill(frame: Float64Array, sound: Float64Array, start: number): void {
    const last = sound.length - 1;
    for (let index = 0; index < FRAME; index++) {
      const place = Math.abs(start + index);
      const sample = sound[place > last ? 2 * last - place : place] ?? 0;
      frame[index] = sample * (this.#window[index] ?? 0);
    }
  }
}

function emphasized(samples: Float32Array): Float64Array {
  return Float64Array.from(samples, (sample, index) =>
    index === 0 ? sample : sample - EMPHASIS * (samples[index - 1] ?? 0),
  );
}

function normalize(row: Float32Array): void {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
  const squares = row.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const spread = Math.sqrt(squares / Math.max(1, row.length - 1)) + SPREAD_GUARD;
  for (let index = 0; index < row.length; index++) row[index] = ((row[index] ?? 0) - mean) / spread;
}
