/** The words by which an operator finds an account. */
import { lengthOf } from './text.js';

const MOST_TERMS = 50;
const MOST_CHARACTERS = 64;

/**
 * Runs of letters and digits, without case and accents, each once: at most 50 of at most 64 characters. The same for
 * what is stored and for what is looked for.
 */
export function searchTerms(...texts: readonly (string | null)[]): string[] {
  const folded = texts.join(' ').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const runs = folded.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(runs.map((run) => shortened(run)))].slice(0, MOST_TERMS);
}

function shortened(run: string): string {
  return lengthOf(run) <= MOST_CHARACTERS ? run : Array.from(run).slice(0, MOST_CHARACTERS).join('');
}

/** The first text, by code points, that is behind all texts that begin with `prefix`. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
