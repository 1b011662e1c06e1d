/**
 * How alike two clusters of speech are, by how alike the speech of each is to itself. What a mean cosine says of two voices depends on
 * the embedding, on the noise, and on how much was heard of each; divided by the mean cosines within them it does not (Spearman's
 * correction for attenuation).
 */
import { scalarProduct, type Item, type Merge } from './dendrogram.js';

/** Pairs of a cluster's own speech, weighed by the product of their weights. */
export interface Pairs {
  weight: number;
  /** Cosines times weights. */
  sum: number;
}

/** What is supposed of a cluster of which few pairs are known: so many, and so alike. */
const SUPPOSED: Pairs = { weight: 20, sum: 20 * 0.45 };
const LEAST_WITHIN = 0.05;
/** Seconds between the starts of two items from which on they have no sound in common. */
const APART = 10;

/** Clusters of items, at first each by itself, with the sums over all pairs. Memory grows with the square of the items. */
export class ClusterPairs {
  readonly #size: number;
  readonly #sums: Float32Array;
  /** Of pairs without common sound. */
  readonly #apart: { sums: Float32Array; weights: Float32Array };
  readonly #weights: Float64Array;
  readonly #within: Pairs[];

  constructor(items: readonly Item[]) {
    const size = items.length;
    this.#size = size;
    this.#sums = new Float32Array(size * size);
    this.#apart = { sums: new Float32Array(size * size), weights: new Float32Array(size * size) };
    this.#weights = Float64Array.from(items, ({ weight }) => weight);
    this.#within = items.map(({ within = { weight: 0, sum: 0 } }) => ({ ...within }));
    for (const [row, one] of items.entries())
      for (const [column, other] of items.slice(0, row).entries()) this.#put(row, column, one, other);
  }

  #put(row: number, column: number, one: Item, other: Item): void {
    const weight = one.weight * other.weight;
    const sum = weight * scalarProduct(one.vector, other.vector);
    const isApart = areApart(one, other);
    for (const place of [row * this.#size + column, column * this.#size + row]) {
      this.#sums[place] = sum;
      this.#apart.sums[place] = isApart ? sum : 0;
      this.#apart.weights[place] = isApart ? weight : 0;
    }
  }

  /** About 1 for two clusters of one voice, 0 for voices that have nothing in common. */
  likeness(one: number, other: number): number {
    const weight = (this.#weights[one] ?? 0) * (this.#weights[other] ?? 0);
    const between = (this.#sums[one * this.#size + other] ?? 0) / weight;
    return between / Math.sqrt(this.#itself(one) * this.#itself(other));
  }

  #itself(cluster: number): number {
    const { weight = 0, sum = 0 } = this.#within[cluster] ?? {};
    return Math.max(LEAST_WITHIN, (sum + SUPPOSED.sum) / (weight + SUPPOSED.weight));
  }

  /** What is in `from` is in `into` from then on; `from` is asked about no more. */
  join(into: number, from: number): void {
    const place = into * this.#size + from;
    const pairs = [this.#within[into], this.#within[from]];
    this.#within[into] = {
      weight: pairs.reduce((sum, each) => sum + (each?.weight ?? 0), this.#apart.weights[place] ?? 0),
      sum: pairs.reduce((sum, each) => sum + (each?.sum ?? 0), this.#apart.sums[place] ?? 0),
    };
    this.#weights[into] = (this.#weights[into] ?? 0) + (this.#weights[from] ?? 0);
    for (const matrix of [this.#sums, this.#apart.sums, this.#apart.weights]) this.#add(matrix, into, from);
  }

  #add(matrix: Float32Array, into: number, from: number): void {
    for (let other = 0; other < this.#size; other++) {
      const sum = (matrix[into * this.#size + other] ?? 0) + (matrix[from * this.#size + other] ?? 0);
      matrix[into * this.#size + other] = sum;
      matrix[other * this.#size + into] = sum;
    }
  }

  /** Pairs within a cluster that have no sound in common. */
  within(cluster: number): Pairs {
    return this.#within[cluster] ?? { weight: 0, sum: 0 };
  }
}

function areApart({ place: one }: Item, { place: other }: Item): boolean {
  return one === undefined || other === undefined || Math.abs(one - other) >= APART;
}

/** Of what each merge of a tree joins. */
export function likenesses(items: readonly Item[], merges: readonly Merge[]): number[] {
  const pairs = new ClusterPairs(items);
  const rows = items.map((_, row) => row);
  return merges.map(({ first, second }) => {
    const [into = 0, from = 0] = [rows[first], rows[second]];
    const likeness = pairs.likeness(into, from);
    pairs.join(into, from);
    rows.push(into);
    return likeness;
  });
}
