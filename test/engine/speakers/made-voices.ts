/** Voices that a test makes: directions with some noise around them. */
import { normalized } from '../../../src/engine/speakers/vectors.js';
import type { Item } from '../../../src/engine/speakers/partitions.js';
import { seededRandom } from '../../../bench/load/random.js';

export interface MadeVoices {
  /** An item of that voice. */
  item(voice: number, weight?: number): Item;
}

/** In 64 dimensions, where random directions are nearly at right angles; `noise` 1 is as much as the voice itself. */
export function madeVoices(seed: number, noise = 0.5): MadeVoices {
  const random = seededRandom(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const direction = (): Float32Array => normalized(Float32Array.from({ length: 64 }, normal));
  const centres = Array.from({ length: 20 }, direction);
  return {
    item: (voice, weight = 2) => {
      const [centre, away] = [centres[voice]!, direction()];
      return { vector: normalized(centre.map((value, index) => value + noise * away[index]!)), weight };
    },
  };
}
