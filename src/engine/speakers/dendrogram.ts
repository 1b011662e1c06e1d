/** Agglomerative clustering with average linkage: the two most alike clusters are joined first, until one is left. */
import type { Item } from './partitions.js';
import { scalarProduct } from './vectors.js';

export interface Merge {
  /** Cluster numbers: 0 to n - 1 are the items, n + i is what merge i made. */
  first: number;
  second: number;
  /** Mean similarity of their items, by weight. Apart from rounding it never exceeds an earlier merge's. */
  similarity: number;
}

/**
 * n - 1 merges. Similarity is the scalar product, which is the cosine of vectors of length 1. Time and memory grow with
 * the square of n: some ten milliseconds for 500.
 */
export function dendrogram(items: readonly Item[]): Merge[] {
  const clusters = new Clusters(items);
  const merges: Merge[] = [];
  while (merges.length < items.length - 1) merges.push(clusters.mergeNearest());
  return merges;
}

/** The state of the clustering. A joined cluster takes over a row of the matrix from one of its parts. */
class Clusters {
  private readonly size: number;
  private readonly similarities: Float32Array;
  private readonly weights: Float64Array;
  /** The cluster number of each row; -1 where it is merged into another. */
  private readonly numbers: Int32Array;
  /** Of each row, the row of those behind it that is most alike. */
  private readonly nearest: Int32Array;
  private made = 0;

  constructor(items: readonly Item[]) {
    this.size = items.length;
    this.similarities = similarityMatrix(items);
    this.weights = Float64Array.from(items, ({ weight }) => weight);
    this.numbers = Int32Array.from(items, (_, index) => index);
    this.nearest = new Int32Array(this.size).fill(-1);
    for (let row = 0; row < this.size; row++) this.findNearest(row);
  }

  mergeNearest(): Merge {
    let row = -1;
    for (let other = 0; other < this.size; other++)
      if (this.isNearer(other, this.nearest[other] ?? -1, row)) row = other;
    const into = row;
    const from = this.nearest[row] ?? -1;
    const merge = {
      first: this.numbers[into] ?? -1,
      second: this.numbers[from] ?? -1,
      similarity: this.similarity(into, from),
    };
    this.join(into, from);
    return merge;
  }

  private isNearer(row: number, nearest: number, best: number): boolean {
    if (nearest < 0) return false;
    return best < 0 || this.similarity(row, nearest) > this.similarity(best, this.nearest[best] ?? -1);
  }

  private join(into: number, from: number): void {
    const [one, other] = [this.weights[into] ?? 0, this.weights[from] ?? 0];
    for (let row = 0; row < this.size; row++) {
      if (row === into || row === from || this.numbers[row] === -1) continue;
      const mean = (one * this.similarity(into, row) + other * this.similarity(from, row)) / (one + other);
      this.similarities[into * this.size + row] = mean;
      this.similarities[row * this.size + into] = mean;
    }
    this.weights[into] = one + other;
    this.numbers[from] = -1;
    this.numbers[into] = this.size + this.made++;
    this.nearest[from] = -1;
    for (let row = 0; row < this.size; row++) this.afterJoin(row, into, from);
  }

  /** Average linkage brings nobody nearer than the nearer of the two was, so that other rows keep their nearest. */
  private afterJoin(row: number, into: number, from: number): void {
    if (this.numbers[row] === -1) return;
    const nearest = this.nearest[row];
    if (row === into || nearest === into || nearest === from) this.findNearest(row);
  }

  private findNearest(row: number): void {
    let best = -1;
    for (let other = row + 1; other < this.size; other++) {
      if (this.numbers[other] === -1) continue;
      if (best < 0 || this.similarity(row, other) > this.similarity(row, best)) best = other;
    }
    this.nearest[row] = best;
  }

  private similarity(row: number, column: number): number {
    return this.similarities[row * this.size + column] ?? 0;
  }
}

function similarityMatrix(items: readonly Item[]): Float32Array {
  const size = items.length;
  const matrix = new Float32Array(size * size);
  for (const [row, { vector }] of items.entries())
    for (let column = 0; column < row; column++) {
      const similarity = scalarProduct(vector, items[column]?.vector ?? vector);
      matrix[row * size + column] = similarity;
      matrix[column * size + row] = similarity;
    }
  return matrix;
}

/** The cluster of each item, from 0 in the order of their first items, after the first `count` merges. */
export function cutAfter(merges: readonly Merge[], count: number, items: number): number[] {
  const parent = Array.from({ length: items + count }, (_, index) => index);
  for (const [index, { first, second }] of merges.slice(0, count).entries())
    parent[first] = parent[second] = items + index;
  // A merge has a higher number than what it merges. Going backwards, each parent is a root already.
  for (let index = parent.length - 1; index >= 0; index--) parent[index] = parent[parent[index] ?? index] ?? index;
  const numbers = new Map<number, number>();
  return parent.slice(0, items).map((root) => {
    const number = numbers.get(root) ?? numbers.size;
    numbers.set(root, number);
    return number;
  });
}
