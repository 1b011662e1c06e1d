/** Text -> paragraphs -> sentences, in order, and back. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { joinTexts, TextJoiner } from '../transcript-text.js';

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

/** Text that Intl.Segmenter gets at once, in UTF-16 units: its time grows with the square of the length. */
const SEGMENTED_AT_ONCE = 2000;

/** Sentences after which the event loop gets its turn. */
const SENTENCES_AT_ONCE = 64;

/** Lines are paragraphs: no sentence runs over a line break. */
export async function splitText(text: string, language: string): Promise<SplitText> {
  const [first = '', ...rest] = text.split(/(\s*\n\s*)/);
  const split: SplitText = { lines: [await splitSentences(first, language)], breaks: [] };
  for (let index = 0; index < rest.length; index += 2) {
    split.breaks.push(rest[index] ?? '');
    split.lines.push(await splitSentences(rest[index + 1] ?? '', language));
  }
  return split;
}

/** The sentences of each text. */
export async function splitEach(texts: readonly string[], language: string): Promise<string[][]> {
  const split: string[][] = [];
  for (const text of texts) {
    split.push(await splitSentences(text, language));
    if (split.length % SENTENCES_AT_ONCE === 0) await nextTurn();
  }
  return split;
}

/** Where the sentences stand in the text that they are of, in UTF-16 units: from `start` up to `end`. */
export function placesOf(sentences: readonly string[], text: string): { start: number; end: number }[] {
  let end = 0;
  return sentences.map((sentence) => {
    const start = text.indexOf(sentence, end);
    end = start + sentence.length;
    return { start, end };
  });
}

/** Joins the translated sentences, in the same shape. */
export function joinText({ lines, breaks }: SplitText, language: string): string {
  return lines.map((sentences, index) => joinTexts(sentences, language) + (breaks[index] ?? '')).join('');
}

/** The same, sentence by sentence. */
export class SentenceJoiner {
  private line = 0;
  private inLine = 0;
  private joiner: TextJoiner;

  constructor(
    private readonly split: SplitText,
    private readonly language: string,
  ) {
    this.joiner = new TextJoiner(language);
  }

  /** The text that the next sentence adds, with the space or line break before it. */
  add(text: string): string {
    let before = '';
    for (; this.inLine === this.split.lines[this.line]?.length; this.line++) {
      before += this.split.breaks[this.line] ?? '';
      this.inLine = 0;
      this.joiner = new TextJoiner(this.language);
    }
    this.inLine++;
    return before + this.joiner.add(text);
  }
}

export async function splitSentences(line: string, language: string): Promise<string[]> {
  const sentences: string[] = [];
  let open = '';
  for (const segment of segments(line, language, 'sentence')) {
    open += segment;
    if (endsInAbbreviation(open)) continue;
    sentences.push(open);
    open = '';
    if (sentences.length % SENTENCES_AT_ONCE === 0) await nextTurn();
  }
  return [...sentences, open].map((sentence) => sentence.trim()).filter((sentence) => sentence !== '');
}

/** Piece by piece; the last segment of a piece may go on, and begins the next one. */
function* segments(text: string, language: string, granularity: 'sentence' | 'word'): Generator<string> {
  const segmenter = new Intl.Segmenter(language, { granularity });
  for (let start = 0, size = SEGMENTED_AT_ONCE; start < text.length;) {
    const isLast = start + size >= text.length;
    const found = Array.from(segmenter.segment(text.slice(start, start + size)), ({ segment }) => segment);
    if (!isLast) found.pop();
    yield* found;
    start = isLast ? text.length : start + found.reduce((sum, segment) => sum + segment.length, 0);
    size = found.length === 0 ? 2 * size : SEGMENTED_AT_ONCE;
  }
}

/** "Dr.", an initial ("J."), an initialism ("z.B.", "U.S."). */
export function endsInAbbreviation(text: string): boolean {
  const word = /(?:^|[\s\p{Ps}\p{Pi}"'])((?:\p{L}\.)*\p{L}+)\.\s*$/u.exec(text)?.[1];
  if (word === undefined) return false;
  return ABBREVIATIONS.has(word) || /^(?:\p{L}\.)+\p{L}$/u.test(word) || /^(?!I$)\p{Lu}$/u.test(word);
}

/** The ways to part a sentence, the gentlest first. */
const CUTS: readonly ((text: string, language: string) => string[])[] = [
  (text) => text.split(/(?<=[,;:—–][\p{Pe}\p{Pf}"']*\s+|[、，；：،؛])/u),
  (text, language) => [...segments(text, language, 'word')],
  (text) => Array.from(text),
];

/**
 * Parts a sentence of more than `limit` tokens at clause marks, then between words, then anywhere; neighbours share a
 * part while they fit. `count` counts the tokens of texts.
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
