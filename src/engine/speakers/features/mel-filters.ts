/** Banks of triangular filters over the frequencies of a power spectrum. */

export interface MelFilter {
  /** The lowest frequency that it lets through, as an index of the spectrum. */
  first: number;
  weights: Float64Array;
}

export interface MelBank {
  bands: number;
  /** Samples of the transform. */
  size: number;
  /** Samples a second. */
  rate: number;
  /** Hz; the highest is half of the rate. */
  lowest: number;
}

interface Scale {
  mels(hertz: number): number;
  hertz(mels: number): number;
}

const NATURAL: Scale = {
  mels: (hertz) => 1127 * Math.log(1 + hertz / 700),
  hertz: (mels) => 700 * (Math.exp(mels / 1127) - 1),
};

/** Slaney's: even steps up to 1 kHz, even ratios above. */
const BEND = 1000;
const STEP = 200 / 3;
const RATIO = Math.log(6.4) / 27;
const AUDITORY: Scale = {
  mels: (hertz) => (hertz < BEND ? hertz / STEP : BEND / STEP + Math.log(hertz / BEND) / RATIO),
  hertz: (mels) => (mels < BEND / STEP ? mels * STEP : BEND * Math.exp((mels - BEND / STEP) * RATIO)),
};

/** Kaldi's: triangles of height 1 on the scale of mels; half of the rate itself is left out. */
export function kaldiFilters(bank: MelBank): MelFilter[] {
  const edges = edgesOf(bank, NATURAL).map((hertz) => NATURAL.mels(hertz));
  return filtersOf(bank, edges, (hertz) => NATURAL.mels(hertz), bank.size / 2).map(({ filter }) => filter);
}

/** Slaney's, as librosa computes them: triangles of area 1 on the scale of hertz. */
export function slaneyFilters(bank: MelBank): MelFilter[] {
  const edges = edgesOf(bank, AUDITORY);
  return filtersOf(bank, edges, (hertz) => hertz, bank.size / 2 + 1).map(({ filter, width }) => ({
    first: filter.first,
    weights: filter.weights.map((weight) => (2 * weight) / width),
  }));
}

/** Power, by band. */
export function through(filters: readonly MelFilter[], power: Float64Array, out: Float64Array): void {
  for (const [band, { first, weights }] of filters.entries()) {
    let sum = 0;
    for (let index = 0; index < weights.length; index++) sum += (weights[index] ?? 0) * (power[first + index] ?? 0);
    out[band] = sum;
  }
}

/** Hz: where each triangle begins, two before where it ends. */
function edgesOf({ bands, rate, lowest }: MelBank, scale: Scale): number[] {
  const [low, high] = [scale.mels(lowest), scale.mels(rate / 2)];
  return Array.from({ length: bands + 2 }, (_, index) => scale.hertz(low + ((high - low) * index) / (bands + 1)));
}

/** Triangles of height 1 between edges on a scale. `width`: of the triangle's base on that scale. */
function filtersOf(
  { bands, size, rate }: MelBank,
  edges: readonly number[],
  placeOf: (hertz: number) => number,
  count: number,
): { filter: MelFilter; width: number }[] {
  const places = Array.from({ length: count }, (_, index) => placeOf((index * rate) / size));
  return Array.from({ length: bands }, (_, band) => {
    const [left = 0, middle = 0, right = 0] = edges.slice(band, band + 3);
    const heights = places.map((place) =>
      Math.max(0, Math.min((place - left) / (middle - left), (right - place) / (right - middle))),
    );
    const first = Math.max(
      0,
      heights.findIndex((height) => height > 0),
    );
    const last = heights.findLastIndex((height) => height > 0);
    return {
      filter: { first, weights: Float64Array.from(heights.slice(first, last + 1)) },
      width: right - left,
    };
  });
}
