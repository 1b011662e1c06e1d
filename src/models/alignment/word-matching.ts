/** Matches recognised words with spoken words. */

/** The word in lower case, without punctuation at its ends, for comparison. */
export function plainWord(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFC')
    .replaceAll('’', "'")
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
}

/** The indices of a spoken word and of the equal recognised word. */
export interface MatchedWords {
  spoken: number;
  recognised: number;
}

/**
 * The pairs of equal words, in order, in an alignment with the fewest edits (insertions, deletions, substitutions). If
 * several alignments have the fewest edits, uses one with the most pairs.
 */
export function matchWords(spoken: readonly string[], recognised: readonly string[]): MatchedWords[] {
  const [a, b] = [spoken.map(plainWord), recognised.map(plainWord)];
  const costs = editCosts(a, b);
  const cost = (row: number, column: number): number => costs[row]?.[column] ?? Infinity;
  const pairs: MatchedWords[] = [];
  let [row, column] = [a.length, b.length];
  while (row > 0 && column > 0) {
    const isSame = a[row - 1] === b[column - 1];
    if (cost(row, column) === cost(row - 1, column - 1) + substitution(isSame)) {
      row--;
      column--;
      if (isSame) pairs.push({ spoken: row, recognised: column });
    } else if (cost(row, column) === cost(row - 1, column) + EDIT) row--;
    else column--;
  }
  return pairs.reverse();
}

/** A pair of equal words reduces the cost slightly. All pairs together reduce it by less than one edit. */
const EDIT = 1_000_000;
const SAME = -1;

function substitution(isSame: boolean): number {
  return isSame ? SAME : EDIT;
}

/** costs[row][column]: the cost of the first `row` words of `a` and the first `column` words of `b`. */
function editCosts(a: readonly string[], b: readonly string[]): number[][] {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column * EDIT)];
  for (const [index, word] of a.entries()) {
    const above = rows[index] ?? [];
    const row = [(index + 1) * EDIT];
    for (const [column, other] of b.entries()) {
      const diagonal = (above[column] ?? Infinity) + substitution(word === other);
      row.push(Math.min(diagonal, (above[column + 1] ?? Infinity) + EDIT, (row[column] ?? Infinity) + EDIT));
    }
    rows.push(row);
  }
  return rows;
}
