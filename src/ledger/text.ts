/**
 * Characters that no name may have: controls, halves of surrogate pairs, and marks that turn lines or their direction.
 * A terminal that prints them shows another text than the stored one.
 */
export const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Characters as people and SQLite count them. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}
