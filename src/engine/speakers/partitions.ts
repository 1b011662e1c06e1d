/** k-means of directions: voices are unit vectors, and each item is its nearest one's. */
import { addScaled, normalized, scalarProduct } from './vectors.js';

/** Something to be clustered. */
export interface Item {
  /** Of length 1; of several that were joined their mean. */
  vector: Float32Array;
  /** Above 0; here the seconds of speech that it was computed from. */
  weight: number;
}

export interface Partition {
  /** Unit vectors. */
  voices: Float32Array[];
  /** Of each item, its voice. */
  labels: number[];
  /** Sum of each item's cosine with its voice, by weight. */
  explained: number;
}

/** Passes over two halves of a voice, and over all items. */
const [PASSES_OF_HALVES, PASSES] = [6, 10];

/** The index of the voice that is most alike; -1 for none. */
export function nearestVoice(vector: Float32Array, voices: readonly Float32Array[]): number {
  let [best, similarity] = [-1, -Infinity];
  for (const [index, voice] of voices.entries()) {
    const product = scalarProduct(vector, voice);
    if (product > similarity) [best, similarity] = [index, product];
  }
  return best;
}

/** Of one voice, of two, and so on: each cuts in two the voice of the last that gains most by it. At least one item. */
export function* partitions(items: readonly Item[]): Generator<Partition> {
  let last = settled(items, [meanDirection(items)], 0);
  yield last;
  while (last.voices.length < items.length) {
    const next = withOneMore(items, last);
    if (next === null) return;
    yield (last = next);
  }
}

/** null where no voice has two items that differ. */
function withOneMore(items: readonly Item[], { voices, labels }: Partition): Partition | null {
  const halves = voices.map((voice, index) => {
    const members = items.filter((_, item) => labels[item] === index);
    const cut = cutInTwo(members, voice);
    return { index, cut, gain: cut === null ? 0 : cut.explained - settled(members, [voice], 0).explained };
  });
  const best = halves.reduce((most, half) => (half.gain > most.gain ? half : most));
  if (best.cut === null || best.gain <= 0) return null;
  return settled(items, [...voices.filter((_, index) => index !== best.index), ...best.cut.voices], PASSES);
}

/** From the item that is least alike to the voice, and the one that is least alike to that. */
function cutInTwo(members: readonly Item[], voice: Float32Array): Partition | null {
  const one = leastAlike(members, voice);
  const other = one === undefined ? undefined : leastAlike(members, one.vector);
  if (one === undefined || other === undefined || one === other) return null;
  return settled(members, [normalized(one.vector), normalized(other.vector)], PASSES_OF_HALVES);
}

function leastAlike(items: readonly Item[], vector: Float32Array): Item | undefined {
  let [found, least]: [Item | undefined, number] = [undefined, Infinity];
  for (const item of items) {
    const product = scalarProduct(item.vector, vector);
    if (product < least) [found, least] = [item, product];
  }
  return found;
}

/** A voice that loses all its items keeps its place. */
function settled(items: readonly Item[], start: readonly Float32Array[], passes: number): Partition {
  let voices = [...start];
  const labelled = (): number[] => items.map(({ vector }) => nearestVoice(vector, voices));
  let labels = labelled();
  for (let pass = 0; pass < passes; pass++) {
    const sums = sumsOf(items, labels, voices.length);
    voices = voices.map((voice, index) => (labels.includes(index) ? normalized(sums[index] ?? voice) : voice));
    labels = labelled();
  }
  const explained = sumsOf(items, labels, voices.length).reduce((total, sum) => total + lengthOf(sum), 0);
  return { voices, labels, explained };
}

function sumsOf(items: readonly Item[], labels: readonly number[], count: number): Float32Array[] {
  const sums = Array.from({ length: count }, () => new Float32Array(items[0]?.vector.length ?? 0));
  for (const [index, { vector, weight }] of items.entries()) {
    const sum = sums[labels[index] ?? -1];
    if (sum !== undefined) addScaled(sum, vector, weight);
  }
  return sums;
}

function meanDirection(items: readonly Item[]): Float32Array {
  const [sum] = sumsOf(items, Array<number>(items.length).fill(0), 1);
  return normalized(sum ?? new Float32Array());
}

function lengthOf(vector: Float32Array): number {
  return Math.sqrt(scalarProduct(vector, vector));
}
