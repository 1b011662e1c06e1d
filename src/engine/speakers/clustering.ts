/** Which stretches of speech are one voice's, and how many voices there are. */
import { clustersOf, dendrogram, scalarProduct, type Item, type Merge } from './dendrogram.js';
import { ClusterPairs, likenesses } from './likeness.js';

export interface ClusteringOptions {
  /** From which two clusters are one voice, see ClusterPairs.likeness(). */
  threshold: number;
  /** A voice that speaks for less in all is taken for somebody else's, unless all do. */
  minSeconds: number;
  /** Voices, 1 or more; where there is less speech than that, fewer. */
  minSpeakers: number;
  maxSpeakers: number;
}

/** Spherical k-means passes over the clusters that the tree gave. */
const REFINEMENTS = 8;

/** Of items whose vectors have length 1: the mean direction of each voice, the one that is first heard first. */
export function voicesOf(items: readonly Item[], options: ClusteringOptions): Float32Array[] {
  if (items.length === 0) return [];
  const merges = dendrogram(items);
  const labels = chosenLabels(items, merges, options);
  const centroids = centroidsOf(items, labels, Math.max(...labels) + 1);
  return refined(items, centroids);
}

/** -1: too little speech for a voice of its own. */
function chosenLabels(
  items: readonly Item[],
  merges: readonly Merge[],
  options: ClusteringOptions,
): number[] {
  const { threshold, minSpeakers, maxSpeakers } = options;
  const alike = likenesses(items, merges);
  const from = (least: number): number[] =>
    clustersOf(merges, items.length, (merge) => (alike[merge] ?? 0) >= least);
  const found = largeClusters(items, from(threshold), options);
  const wanted = Math.min(Math.max(found.count, minSpeakers), maxSpeakers);
  if (found.count === wanted) return found.labels;
  if (found.count > wanted) return fewest(items, found.labels, wanted);
  // Who says little is a voice of its own before one voice is taken for two.
  const stricter = [threshold, ...alike.filter((likeness) => likeness >= threshold)].sort(
    (one, other) => one - other,
  );
  const clusters = [...stricter.map(nextAbove), Infinity]
    .map(from)
    .find((labels) => countOf(labels) >= wanted);
  return largest(items, clusters ?? from(Infinity), wanted);
}

/** What is as alike as that is no more alike enough. */
function nextAbove(likeness: number): number {
  return likeness + Number.EPSILON * Math.max(1, Math.abs(likeness));
}

function countOf(labels: readonly number[]): number {
  return 1 + labels.reduce((most, label) => Math.max(most, label), -1);
}

/** Those that speak most. */
function largest(items: readonly Item[], labels: readonly number[], wanted: number): number[] {
  const seconds = secondsOf(items, labels);
  const order = [...seconds.keys()].sort((one, other) => (seconds[other] ?? 0) - (seconds[one] ?? 0));
  const kept = order.slice(0, wanted);
  return labels.map((label) => kept.indexOf(label));
}

/** Clusters that are most alike are one, until there are so few. */
function fewest(items: readonly Item[], labels: readonly number[], wanted: number): number[] {
  const pairs = new ClusterPairs(items);
  const rows: number[] = [];
  for (const [row, label] of labels.entries()) {
    if (label < 0) continue;
    const into = rows[label];
    if (into === undefined) rows[label] = row;
    else pairs.join(into, row);
  }
  const into = rows.map((_, label) => label);
  for (let count = rows.length; count > wanted; count--) {
    const [one, other] = mostAlike(pairs, rows, into);
    pairs.join(rows[one] ?? 0, rows[other] ?? 0);
    for (const [label, cluster] of into.entries()) if (cluster === other) into[label] = one;
  }
  const left = [...new Set(into)];
  return labels.map((label) => (label < 0 ? label : left.indexOf(into[label] ?? 0)));
}

function mostAlike(
  pairs: ClusterPairs,
  rows: readonly number[],
  into: readonly number[],
): [one: number, other: number] {
  let best: { pair: [number, number]; likeness: number } = { pair: [0, 0], likeness: -Infinity };
  const clusters = [...new Set(into)];
  for (const [index, one] of clusters.entries())
    for (const other of clusters.slice(index + 1)) {
      const likeness = pairs.likeness(rows[one] ?? 0, rows[other] ?? 0);
      if (likeness > best.likeness || best.likeness === -Infinity) best = { pair: [one, other], likeness };
    }
  return best.pair;
}

function secondsOf(items: readonly Item[], labels: readonly number[]): number[] {
  const seconds: number[] = [];
  for (const [index, { weight }] of items.entries()) {
    const label = labels[index] ?? 0;
    seconds[label] = (seconds[label] ?? 0) + weight;
  }
  return seconds;
}

/** Labels of those that speak for long enough, or of all where none does. */
function largeClusters(
  items: readonly Item[],
  labels: number[],
  { minSeconds }: ClusteringOptions,
): { labels: number[]; count: number } {
  const seconds = secondsOf(items, labels);
  const isLarge = seconds.map((sum) => sum >= minSeconds);
  if (!isLarge.includes(true)) return { labels, count: seconds.length };
  const numbers = isLarge.map((large, label) =>
    large ? isLarge.slice(0, label).filter(Boolean).length : -1,
  );
  return { labels: labels.map((label) => numbers[label] ?? -1), count: isLarge.filter(Boolean).length };
}

function centroidsOf(items: readonly Item[], labels: readonly number[], count: number): Float32Array[] {
  const sums = Array.from({ length: count }, () => new Float32Array(items[0]?.vector.length ?? 0));
  for (const [index, { vector, weight }] of items.entries()) {
    const sum = sums[labels[index] ?? -1];
    if (sum !== undefined) addScaled(sum, vector, weight);
  }
  return sums.map(normalized);
}

/** A cluster that loses all its items keeps its place: the number of voices was chosen by the tree. */
function refined(items: readonly Item[], start: Float32Array[]): Float32Array[] {
  let centroids = start;
  for (let pass = 0; pass < REFINEMENTS; pass++) {
    const labels = items.map(({ vector }) => nearestVoice(vector, centroids));
    const next = centroidsOf(items, labels, centroids.length);
    centroids = next.map((centroid, index) =>
      labels.includes(index) ? centroid : (centroids[index] ?? centroid),
    );
  }
  return centroids;
}

/** The index of the voice that is most alike; -1 for none. */
export function nearestVoice(vector: Float32Array, voices: readonly Float32Array[]): number {
  let [best, similarity] = [-1, -Infinity];
  for (const [index, voice] of voices.entries()) {
    const product = scalarProduct(vector, voice);
    if (product > similarity) [best, similarity] = [index, product];
  }
  return best;
}

/** Of length 1; a vector of nothing, or of what is no number, becomes 0. */
export function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(scalarProduct(vector, vector));
  return vector.map((value) => (length > 0 && Number.isFinite(length) ? value / length : 0));
}

/** Adds `vector`, `scale` times, to `sum`. */
export function addScaled(sum: Float32Array, vector: Float32Array, scale: number): void {
  for (let index = 0; index < sum.length; index++)
    sum[index] = (sum[index] ?? 0) + scale * (vector[index] ?? 0);
}
