/**
 * Captions from the words of a transcript, each short enough to be read at a glance. Where no words were aligned, the
 * words of a segment that is too long for one caption share the segment's time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Segment, Word } from '../engine/binding.js';
import { joinTexts, wordsIn } from '../engine/transcript-text.js';
import {
  MOST_CAPTION_CHARACTERS,
  MOST_CAPTION_LINES,
  MOST_CAPTION_SECONDS,
  partition,
  WORDS_AT_ONCE,
  type CaptionPiece,
} from './caption-cuts.js';
import { linesOf } from './lines.js';
import { inThousandths, RisingClock, type TimedText, type TimedWord } from './timed-text.js';

export interface Caption extends TimedText {
  /** Those that were aligned. */
  words: TimedWord[];
}

/** The speaker of a text at that time. */
export type SpeakerOf = (span: { startSeconds: number; endSeconds: number }) => string;

/** A text with its times, and with its words' times where they are known. The words joined are the text. */
export type Captioned = Pick<Segment, 'startSeconds' | 'endSeconds' | 'text' | 'words' | 'decoding'>;

/**
 * Of texts in the order of time; times that are not in order, or past the duration, are brought there. With
 * `speakerOf`, no caption is of two speakers; a text whose words were not aligned is one speaker's.
 */
export async function captionsOf(
  texts: readonly Captioned[],
  language: string,
  durationSeconds: number,
  speakerOf?: SpeakerOf,
): Promise<Caption[]> {
  const clock = new RisingClock(durationSeconds);
  const pieces: CaptionPiece[] = [];
  let inTurn = 0;
  for (const text of texts) {
    if (pieces.length - inTurn >= WORDS_AT_ONCE) {
      inTurn = pieces.length;
      await nextTurn();
    }
    const before = pieces.at(-1);
    const [first, ...others] = spokenBy(speakerOf, text, toPieces(parted(text, language), clock));
    if (first === undefined) continue;
    const isSpaced = before !== undefined && meetSpaced(before.text, first.text, language);
    pieces.push({ ...first, isSpaced }, ...others);
  }
  return (await partition(pieces)).map(captionOf);
}

function spokenBy(
  speakerOf: SpeakerOf | undefined,
  text: Captioned,
  pieces: readonly CaptionPiece[],
): readonly CaptionPiece[] {
  if (speakerOf === undefined) return pieces;
  const speaker = hasWords(text) ? undefined : speakerOf(text);
  return pieces.map((piece) => ({ ...piece, speaker: speaker ?? speakerOf(piece) }));
}

function hasWords({ words = [] }: Captioned): boolean {
  return words.some((word) => word.text.trim() !== '');
}

/** Into words, or what passes for words; joined they are the text. */
function parted(text: Captioned, language: string): Captioned[] {
  if (hasWords(text)) return wholeWords(text.words ?? [], language);
  return fitsCaption(text, language) ? [text] : sharedOut(text, language);
}

function fitsCaption({ startSeconds, endSeconds, text }: Captioned, language: string): boolean {
  if (endSeconds - startSeconds > MOST_CAPTION_SECONDS) return false;
  const shown = singleSpaced(text);
  return shown.length <= MOST_CAPTION_CHARACTERS && linesOf(shown, language).length <= MOST_CAPTION_LINES;
}

/** Aligned words may be less than words: characters of a language that is written without spaces. */
function wholeWords(words: readonly Word[], language: string): Captioned[] {
  let end = 0;
  const texts = wordsIn(words.map(({ text }) => text).join(''), language);
  const ends = new Set(texts.map((text) => (end += text.length)));
  const whole: Captioned[] = [];
  let [open, at]: [Word[], number] = [[], 0];
  for (const word of words) {
    open.push(word);
    if (!ends.has((at += word.text.length))) continue;
    const { startSeconds } = open[0] ?? word;
    const text = open.map((part) => part.text).join('');
    whole.push({ startSeconds, endSeconds: word.endSeconds, text, words: open });
    open = [];
  }
  return whole;
}

/** Words that share the time of their text, each by its characters. */
function sharedOut({ text, startSeconds, endSeconds }: Captioned, language: string): Captioned[] {
  const secondsPerCharacter = (endSeconds - startSeconds) / text.length;
  let end = startSeconds;
  return wordsIn(text, language).map((word) => {
    const start = end;
    end += word.length * secondsPerCharacter;
    return { startSeconds: start, endSeconds: end, text: word };
  });
}

/** Without the white space around them. */
function toPieces(parts: readonly Captioned[], clock: RisingClock): CaptionPiece[] {
  const pieces: CaptionPiece[] = [];
  let isSpaced = false;
  for (const part of parts) {
    const text = singleSpaced(part.text);
    isSpaced ||= /^\s/u.test(part.text);
    if (text === '') continue;
    const words = timedWords(part, clock);
    const startSeconds = words[0]?.startSeconds ?? clock.at(part.startSeconds);
    const endSeconds = words.at(-1)?.endSeconds ?? clock.at(part.endSeconds);
    pieces.push({ startSeconds, endSeconds, text, words, isSpaced });
    isSpaced = /\s$/u.test(part.text);
  }
  return pieces;
}

function timedWords({ words = [] }: Captioned, clock: RisingClock): TimedWord[] {
  return words
    .filter(({ text }) => text.trim() !== '')
    .map(({ startSeconds, endSeconds, text, probability }) => ({
      startSeconds: clock.at(startSeconds),
      endSeconds: clock.at(endSeconds),
      text: singleSpaced(text),
      probability: inThousandths(probability),
    }));
}

function singleSpaced(text: string): string {
  return text.trim().replace(/\s+/gu, ' ');
}

/** Whether a space stands between two texts that meet. */
function meetSpaced(text: string, next: string, language: string): boolean {
  const [last, first] = [text.slice(-2), next.slice(0, 1)];
  return joinTexts([last, first], language).length > last.length + first.length;
}

function captionOf(pieces: readonly CaptionPiece[]): Caption {
  const { startSeconds = 0, speaker } = pieces[0] ?? {};
  return {
    startSeconds,
    endSeconds: pieces.at(-1)?.endSeconds ?? startSeconds,
    text: pieces.map(({ isSpaced, text }, index) => (isSpaced && index > 0 ? ` ${text}` : text)).join(''),
    words: pieces.flatMap(({ words }) => words),
    ...(speaker === undefined ? {} : { speaker }),
  };
}
