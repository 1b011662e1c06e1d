/** Words that were sought, in a sentence: as the search finds them, whatever their case and accents. */
import type { FoundSentence } from './list-view.js';

const MARKS = /\p{M}/gu;
const LETTERS = /[\p{L}\p{M}\p{N}]+/gu;
/** Written without spaces between words: found anywhere. */
const UNSPACED = new RegExp(
  ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar'].map((name) => `\\p{Script=${name}}`).join('|'),
  'u',
);
/** Around the first match of a long text. */
const MOST_CHARACTERS = 220;
const BEFORE = 80;

type Pieces = FoundSentence['pieces'];

/** The text in pieces; a long one is cut around its first match. */
export function highlighted(text: string, query: string): Pieces {
  const words = [...folded(query).text.matchAll(LETTERS)].map(([word]) => word);
  const { text: sought, places } = folded(text);
  const found = words.flatMap((word) => matchesOf(sought, word));
  const isMatch = new Array<boolean>(text.length).fill(false);
  for (const [from, to] of found) isMatch.fill(true, places[from], places[to] ?? text.length);
  const first = isMatch.indexOf(true);
  const begin = text.length <= MOST_CHARACTERS || first < BEFORE ? 0 : wordStart(text, first - BEFORE);
  const end = Math.min(text.length, begin + MOST_CHARACTERS);
  const pieces = piecesOf(text, isMatch, begin, end);
  return [
    ...(begin > 0 ? [{ text: '…', isMatch: false }] : []),
    ...pieces,
    ...(end < text.length ? [{ text: '…', isMatch: false }] : []),
  ];
}

/** Lower case without accents, and for each of its code units the place in the given text. */
function folded(given: string): { text: string; places: number[] } {
  let text = '';
  const places: number[] = [];
  let at = 0;
  for (const character of given) {
    const plain = character.normalize('NFKD').replace(MARKS, '').toLowerCase();
    for (let unit = 0; unit < plain.length; unit += 1) places.push(at);
    text += plain;
    at += character.length;
  }
  return { text, places };
}

/** At the beginnings of words, as the last word of a query may be unfinished. */
function matchesOf(text: string, word: string): [from: number, to: number][] {
  const anywhere = UNSPACED.test(word);
  const found: [number, number][] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    const before = text[at - 1];
    if (anywhere || before === undefined || !/[\p{L}\p{N}]/u.test(before)) found.push([at, at + word.length]);
  }
  return found;
}

function wordStart(text: string, from: number): number {
  const space = text.indexOf(' ', from);
  return space < 0 ? from : space + 1;
}

function piecesOf(text: string, isMatch: readonly boolean[], begin: number, end: number): Pieces {
  const pieces: { text: string; isMatch: boolean }[] = [];
  for (let from = begin; from < end;) {
    let to = from + 1;
    while (to < end && isMatch[to] === isMatch[from]) to += 1;
    pieces.push({ text: text.slice(from, to), isMatch: isMatch[from] === true });
    from = to;
  }
  return pieces;
}
