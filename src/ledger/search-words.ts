/**
 * The words that a text is found by: the same for what is stored and for what is looked for, in both databases, whose
 * own tokenizers differ, and find no 北京. They hold letters, digits and marks of letters only, so they can stand in a
 * query of any database.
 */

/** Longer ones are cut; code points. */
const LONGEST_WORD = 64;
/** Of one query; further ones do not narrow it. */
const MOST_TERMS = 32;
/** A beginning of fewer letters has too many continuations: it is looked for as a word. */
const SHORTEST_PREFIX = 3;

const RUN = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that put no spaces between words; Korean puts them, but hangs particles onto words. */
const UNSPACED = [
  ...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'].map(
    (script) => `\\p{Script_Extensions=${script}}`,
  ),
].join('');
const PIECE = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
/** Accents, Hebrew points and Arabic vowel signs. A mark of Japanese or Thai makes another letter, and stays. */
const ACCENTS = new RegExp(
  [
    '\\u0300-\\u036f',
    '\\u0591-\\u05c7',
    '\\u0610-\\u061a',
    '\\u064b-\\u065f',
    '\\u0670',
    '\\u1ab0-\\u1aff',
    '\\u1dc0-\\u1dff',
  ]
    .map((range) => `[${range}]`)
    .join('|'),
  'gu',
);
/** Letters that Unicode does not decompose. */
const PLAIN: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', æ: 'ae', œ: 'oe', ς: 'σ' };

/** In the order of the text, repeated as they are there. */
export function searchWordsOf(text: string): string[] {
  return piecesOf(text).flatMap(({ piece, isUnspaced }) => (isUnspaced ? pairsOf(piece) : [piece]));
}

export interface SearchTerms {
  /** Each must be in the text. */
  words: readonly string[];
  /** Beginnings of words that must be in it. */
  prefixes: readonly string[];
  /** The last word, if it may be unfinished; it is in neither list. */
  last: string | null;
}

/** null: there is nothing to look for. */
export function searchTermsOf(query: string): SearchTerms | null {
  const words = new Set<string>();
  const prefixes = new Set<string>();
  let last: string | null = null;
  for (const { piece, isUnspaced, isLast } of piecesOf(query)) {
    const letters = Array.from(piece);
    // The stored pairs that begin with one letter are all its places.
    if (isUnspaced && letters.length === 1) prefixes.add(piece);
    else if (isUnspaced) for (const pair of pairsOf(piece).slice(0, -1)) words.add(pair);
    else if (isLast && letters.length >= SHORTEST_PREFIX && letters.length < LONGEST_WORD) last = piece;
    else words.add(piece);
  }
  if (words.size + prefixes.size === 0 && last === null) return null;
  const [some, beginnings] = [words, prefixes].map((terms) => Array.from(terms).slice(0, MOST_TERMS));
  return { words: some ?? [], prefixes: beginnings ?? [], last };
}

interface Piece {
  piece: string;
  isUnspaced: boolean;
  /** Nothing comes behind it, so that it may be unfinished. */
  isLast: boolean;
}

function piecesOf(text: string): Piece[] {
  const pieces = Array.from(folded(text).matchAll(RUN), ([run]) => run.match(PIECE) ?? []).flat();
  return pieces.map((piece, index) => {
    const isUnspaced = IS_UNSPACED.test(piece);
    return { piece: isUnspaced ? piece : cut(piece), isUnspaced, isLast: index === pieces.length - 1 };
  });
}

/** Case, accents and forms of letters do not matter. */
function folded(text: string): string {
  const plain = text.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD').replace(ACCENTS, '');
  return plain.normalize('NFC').replace(/[øłđħæœς]/g, (letter) => PLAIN[letter] ?? letter);
}

/** Two neighbouring letters each; at last the last letter alone, so that each letter begins one. */
function pairsOf(run: string): string[] {
  const letters = Array.from(run);
  return letters.map((letter, index) => letter + (letters[index + 1] ?? ''));
}

function cut(word: string): string {
  return word.length <= LONGEST_WORD ? word : Array.from(word).slice(0, LONGEST_WORD).join('');
}
