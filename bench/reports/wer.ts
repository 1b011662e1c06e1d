/**
 * Word error rate: edits (insertions, deletions, substitutions) to turn the hypothesis into the reference, by reference
 * words.
 */

export interface WordErrors {
  edits: number;
  words: number;
}

/** Lower-case words without punctuation; hyphens separate, apostrophes inside words stay. */
export function normalizedWords(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll('-', ' ')
    .replace(/[^\p{L}\p{M}\p{N}' ]/gu, ' ')
    .split(/\s+/)
    .map((word) => word.replace(/^'+|'+$/g, ''))
    .filter((word) => word !== '');
}

export function wordErrors(reference: string, hypothesis: string): WordErrors {
  const expected = normalizedWords(reference);
  return { edits: editDistance(expected, normalizedWords(hypothesis)), words: expected.length };
}

/** Levenshtein distance over words, one row at a time. */
function editDistance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, word] of a.entries()) {
    const next = [index + 1];
    for (const [column, other] of b.entries()) {
      const substitute = (row[column] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(substitute, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

export class WordErrorRate {
  #edits = 0;
  #words = 0;

  add({ edits, words }: WordErrors): void {
    this.#edits += edits;
    this.#words += words;
  }

  /** Percent; 0 for no words. */
  get percent(): number {
    return this.#words === 0 ? 0 : (100 * this.#edits) / this.#words;
  }
}
