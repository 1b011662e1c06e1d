/** Text -> paragraphs -> sentences, in order, and back. */
import { joinTexts } from './transcript-text.js';

/** A text as lines of sentences; `breaks[i]` is the white space that ends line i. */
export interface SplitText {
  lines: string[][];
  breaks: string[];
}

// A full stop behind these ends no sentence: titles, and words that come before a name or a number.
const ABBREVIATIONS = new Set(
  (
    'Dr Mr Mrs Ms Prof St Sr Sra Srta Jr No Nr Nos vs cf ca bzw usw inkl evtl Abs Art Bd Hr Fr ' +
    'Mme Mlle MM Ud Uds núm pág Fig Vol Gen Col Capt Lt Sgt Rev Hon approx'
  ).split(' '),
);

/** Lines are paragraphs: no sentence runs over a line break. */
export function splitText(text: string, language: string): SplitText {
  const [first = '', ...rest] = text.split(/(\s*\n\s*)/);
  const split: SplitText = { lines: [splitSentences(first, language)], breaks: [] };
  for (let index = 0; index < rest.length; index += 2) {
    split.breaks.push(rest[index] ?? '');
    split.lines.push(splitSentences(rest[index + 1] ?? '', language));
  }
  return split;
}

/** Joins what became of the sentences, in the same shape. */
export function joinText({ lines, breaks }: SplitText, language: string): string {
  return lines.map((sentences, index) => joinTexts(sentences, language) + (breaks[index] ?? '')).join('');
}

export function splitSentences(line: string, language: string): string[] {
  const sentences: string[] = [];
  let open = '';
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'sentence' }).segment(line)) {
    open += segment;
    if (endsInAbbreviation(open)) continue;
    sentences.push(open);
    open = '';
  }
  return [...sentences, open].map((sentence) => sentence.trim()).filter((sentence) => sentence !== '');
}

/** "Dr.", an initial ("J."), an initialism ("z.B.", "U.S."). */
function endsInAbbreviation(text: string): boolean {
  const word = /(?:^|[\s\p{Ps}\p{Pi}"'])((?:\p{L}\.)*\p{L}+)\.\s*$/u.exec(text)?.[1];
  if (word === undefined) return false;
  return ABBREVIATIONS.has(word) || /^(?:\p{L}\.)+\p{L}$/u.test(word) || /^(?!I$)\p{Lu}$/u.test(word);
}

/** The ways to part a sentence, the gentlest first. */
const CUTS: readonly ((text: string, language: string) => string[])[] = [
  (text) => text.split(/(?<=[,;:—–][\p{Pe}\p{Pf}"']*\s+|[、，；：،؛])/u),
  (text, language) =>
    [...new Intl.Segmenter(language, { granularity: 'word' }).segment(text)].map(({ segment }) => segment),
  (text) => Array.from(text),
];

/**
 * Parts a sentence of more than `limit` tokens at clause marks, then between words, then anywhere; neighbours
 * share a part while they fit. `count` counts the tokens of texts.
 */
export async function fitSentence(
  sentence: string,
  language: string,
  limit: number,
  count: (texts: string[]) => Promise<number[]>,
  level = 0,
): Promise<string[]> {
  const cut = CUTS[level];
  if (cut === undefined) return [sentence];
  const pieces = cut(sentence, language);
  const lengths = await count(pieces);
  const parts: string[] = [];
  let open = '';
  let openLength = 0;
  const close = (): void => {
    if (open.trim() !== '') parts.push(open.trim());
    open = '';
    openLength = 0;
  };
  for (const [index, piece] of pieces.entries()) {
    const length = lengths[index] ?? 0;
    if (openLength + length > limit) close();
    if (length > limit) {
      parts.push(...(await fitSentence(piece, language, limit, count, level + 1)));
      continue;
    }
    open += piece;
    openLength += length;
  }
  close();
  return parts;
}
