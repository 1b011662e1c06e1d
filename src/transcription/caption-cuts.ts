/**
 * Where words are parted into captions: behind sentences if they fit, else behind clauses, in pauses, or between any
 * two words, whatever costs the reader least over the whole text.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { endsInAbbreviation } from '../engine/translation/sentences.js';
import { MOST_LINE_CHARACTERS } from './lines.js';
import type { TimedText, TimedWord } from './timed-text.js';

/** Of one caption, where its words allow. */
export const MOST_CAPTION_SECONDS = 7;
export const MOST_CAPTION_LINES = 2;
export const MOST_CAPTION_CHARACTERS = MOST_CAPTION_LINES * MOST_LINE_CHARACTERS;

/** Words further apart are never in one caption. */
const LONG_PAUSE_SECONDS = 1.5;
/** A longer pause is no better a place to part a sentence than one of this length. */
const PAUSE_SECONDS = 0.5;
/** A caption that is shown for a shorter time is hardly read. */
const GLANCE_SECONDS = 1;

/** Costs, relative to each other, by what readers prefer. */
const COST = {
  caption: 1,
  /** Grows with the square of the characters, so that a sentence of two captions is parted in its middle. */
  full: 0.5,
  glance: 1.5,
  bridgedSentence: 1,
  partedClause: 2,
  partedPause: 3,
  partedWords: 5,
  tooMuch: 100,
  instant: 1000,
} as const;

/** Words after which the event loop gets its turn: a millisecond's work. */
export const WORDS_AT_ONCE = 512;

/** Before what somebody says stands who it is. */
const SPEAKER_COLUMNS = 'S20: '.length;

/** What is never parted: a word, or a short text whose words are not aligned. */
export interface CaptionPiece extends TimedText {
  /** Whether a space stands before it. */
  isSpaced: boolean;
  words: TimedWord[];
}

const CLOSING = String.raw`[\p{Pe}\p{Pf}"'»]*$`;
const SENTENCE_END = new RegExp(`[.!?…。．！？؟۔।॥։።၊။]${CLOSING}`, 'u');
const CLAUSE_END = new RegExp(`[,;:—–、，；：،؛]${CLOSING}`, 'u');

/** The cheapest way to part the pieces, which are in order, found by dynamic programming. */
export async function partition(pieces: readonly CaptionPiece[]): Promise<CaptionPiece[][]> {
  const joints = pieces.map((piece, index) => jointBehind(piece, pieces[index + 1]));
  const costs = [0, ...pieces.map(() => Infinity)];
  const starts: number[] = [];
  for (let start = 0; start < pieces.length; start++) {
    if (start % WORDS_AT_ONCE === WORDS_AT_ONCE - 1) await nextTurn();
    for (const { end, cost } of captionsFrom(start, pieces, joints)) {
      const whole = (costs[start] ?? 0) + cost;
      if (whole >= (costs[end] ?? Infinity)) continue;
      costs[end] = whole;
      starts[end] = start;
    }
  }
  const captions: CaptionPiece[][] = [];
  for (let end = pieces.length; end > 0; end = starts[end] ?? 0) {
    captions.push(pieces.slice(starts[end], end));
  }
  return captions.reverse();
}

/** Every caption that may begin there: the index behind its last piece, and its cost. */
function* captionsFrom(
  start: number,
  pieces: readonly CaptionPiece[],
  joints: readonly Joint[],
): Generator<{ end: number; cost: number }> {
  const { startSeconds = 0, speaker } = pieces[start] ?? {};
  let fill = speaker === undefined ? EMPTY : NAMED;
  let bridged = 0;
  for (let end = start; ; end++) {
    const [piece, joint] = [pieces[end], joints[end]];
    if (piece === undefined || joint === undefined) return;
    fill = filled(fill, piece);
    const fits = fill.lines <= MOST_CAPTION_LINES && fill.characters <= MOST_CAPTION_CHARACTERS;
    const isTooMuch = !fits || piece.endSeconds - startSeconds > MOST_CAPTION_SECONDS;
    // A text without duration cannot be shown by itself.
    if (isTooMuch && end > start && piece.endSeconds > piece.startSeconds) return;
    const cost =
      COST.caption +
      COST.full * (fill.characters / MOST_CAPTION_CHARACTERS) ** 2 +
      (joint.nextStart - startSeconds < GLANCE_SECONDS ? COST.glance : 0) +
      (piece.endSeconds === startSeconds ? COST.instant : 0) +
      (isTooMuch ? COST.tooMuch : 0);
    yield { end: end + 1, cost: cost + bridged + joint.parting };
    if (joint.isBreak) return;
    bridged += joint.bridging;
  }
}

/** Behind a piece. */
interface Joint {
  /** No caption goes on behind it. */
  isBreak: boolean;
  nextStart: number;
  /** The cost of a cut there, and the cost of none. */
  parting: number;
  bridging: number;
}

function jointBehind(piece: CaptionPiece, next: CaptionPiece | undefined): Joint {
  const nextStart = next?.startSeconds ?? Infinity;
  const pause = nextStart - piece.endSeconds;
  const isBreak = pause >= LONG_PAUSE_SECONDS || next?.speaker !== piece.speaker;
  const isSentence = endsIn(SENTENCE_END, piece, next) && !endsInAbbreviation(piece.text);
  const parting = isBreak || isSentence ? 0 : partedCost(piece, next, pause);
  return { isBreak, nextStart, parting, bridging: isSentence ? COST.bridgedSentence : 0 };
}

function partedCost(piece: CaptionPiece, next: CaptionPiece | undefined, pause: number): number {
  if (endsIn(CLAUSE_END, piece, next)) return COST.partedClause;
  const { partedWords, partedPause } = COST;
  return partedWords - (partedWords - partedPause) * Math.min(1, pause / PAUSE_SECONDS);
}

/** Not in the point or the colon of a number, which goes on behind it: "3.", "5". */
function endsIn(mark: RegExp, { text }: CaptionPiece, next: CaptionPiece | undefined): boolean {
  const goesOn = next?.isSpaced === false && /^\p{Nd}/u.test(next.text);
  return mark.test(text) && !goesOn;
}

/** How far a caption's lines are filled. */
interface Fill {
  characters: number;
  lines: number;
  column: number;
}

const EMPTY: Fill = { characters: 0, lines: 1, column: 0 };
const NAMED: Fill = { ...EMPTY, characters: SPEAKER_COLUMNS, column: SPEAKER_COLUMNS };

function filled({ characters, lines, column }: Fill, { text, isSpaced }: CaptionPiece): Fill {
  const space = isSpaced && characters > 0 ? 1 : 0;
  const width = column + space + text.length;
  const goesOn = column === 0 || width <= MOST_LINE_CHARACTERS;
  return {
    characters: characters + space + text.length,
    lines: goesOn ? lines : lines + 1,
    column: goesOn ? width : text.length,
  };
}
