/**
 * How alike the stretches of one voice are in a file, as a mean cosine. How large a cosine within one voice is depends
 * on the embedding and on the noise. Within a window the segmentation mostly knows which neighbouring stretches are one
 * person's, so their cosines measure it.
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

/** The prior, for files with few known pairs: so many seconds of pairs with this cosine. */
const SUPPOSED = { weight: 6, cosine: 0.3 };
const LEAST = 0.05;

export class OwnLikeness {
  #weight = SUPPOSED.weight;
  #sum = SUPPOSED.weight * SUPPOSED.cosine;

  /** The stretches of one window. Two stretches of one local speaker share no sound. */
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
