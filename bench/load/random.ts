/** Random numbers that a seed repeats, so that two runs see the same load. */

/** Uniform in [0, 1). */
export type Random = () => number;

/** Marsaglia's xorshift with 32 bits of state ("Xorshift RNGs", 2003). */
export function seededRandom(seed: number): Random {
  // Spread over all bits, because small seeds begin with small numbers; and never zero, which stays zero.
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** One of them, each equally likely. Throws RangeError for none. */
export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new RangeError('There is nothing to pick from.');
  return value;
}

/** A kind, by the shares, which add up to 1. */
export function pickKind<K extends string>(random: Random, kinds: readonly { kind: K; share: number }[]): K {
  let left = random();
  const found = kinds.find(({ share }) => (left -= share) < 0) ?? kinds[0];
  if (found === undefined) throw new RangeError('There is nothing to pick from.');
  return found.kind;
}

/** All of them in any order, each order equally likely (Fisher and Yates). */
export function shuffled<T>(random: Random, values: readonly T[]): T[] {
  const left = [...values];
  return values.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
}

/**
 * Times (seconds from 0, ascending, below `seconds`) of a Poisson process of `rate` events a second: gaps are
 * exponentially distributed, so arrivals know nothing of the answers, as users know nothing of each other.
 */
export function poissonArrivals(random: Random, rate: number, seconds: number): number[] {
  if (!(rate > 0)) throw new RangeError(`rate is ${rate}; allowed: above 0.`);
  const times: number[] = [];
  for (let time = gap(random, rate); time < seconds; time += gap(random, rate)) times.push(time);
  return times;
}

function gap(random: Random, rate: number): number {
  return -Math.log(1 - random()) / rate;
}
