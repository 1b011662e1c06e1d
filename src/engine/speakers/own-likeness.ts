/**
 * How alike one voice is to itself in a file. What a mean cosine says of two voices depends on the embedding and on the
 * noise; but of neighbouring stretches of speech a segmentation mostly knows that they are one person's, and their
 * cosines are what a voice has here.
 */
import { scalarProduct } from './vectors.js';

/** A stretch of speech, and whose it is by the segmentation of its window. */
export interface LocalItem {
  vector: Float32Array;
  /** Seconds. */
  weight: number;
  /** Speaker of the window. */
  local: number;
}

/** What is supposed of a file of which few pairs are known: so many seconds, and so alike. */
const SUPPOSED = { weight: 6, cosine: 0.3 };
const LEAST = 0.05;

export class OwnLikeness {
  #weight = SUPPOSED.weight;
  #sum = SUPPOSED.weight * SUPPOSED.cosine;

  /** The stretches of one window, of which no two have sound in common if one local speaker says them. */
  add(items: readonly LocalItem[]): void {
    for (const [index, one] of items.entries())
      for (const other of items.slice(0, index)) {
        if (one.local !== other.local) continue;
        const weight = Math.min(one.weight, other.weight);
        this.#weight += weight;
        this.#sum += weight * scalarProduct(one.vector, other.vector);
      }
  }

  /** Above 0 and below 1. */
  get mean(): number {
    return Math.min(Math.max(this.#sum / this.#weight, LEAST), 1 - LEAST);
  }
}
