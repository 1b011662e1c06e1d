/** The words of a file in utterances, and in sentences and paragraphs. */
import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { joinTexts } from '../../engine/transcript-text.js';
import { endsInAbbreviation } from '../../engine/translation/sentences.js';
import { endsSentence } from '../../live/sentence-end.js';
import type { TimedText } from '../../transcription/timed-text.js';
import type { ListenParagraph, ListenUtterance, ListenWord } from './file-schema.js';
import { round } from './alternative.js';

type ListenedWord = Static<typeof ListenWord>;
type Paragraph = Static<typeof ListenParagraph>;
type Utterance = Static<typeof ListenUtterance>;

/** A word as it is written in the transcript. */
export interface WrittenWord {
  word: ListenedWord;
  text: string;
}

/** A paragraph ends after so many sentences, or before so much silence. */
const MOST_SENTENCES = 5;
const PARAGRAPH_GAP_SECONDS = 1.5;

export function utterancesOf(words: readonly WrittenWord[], language: string, gapSeconds: number): Utterance[] {
  const groups = split(words, (last, next) => isApart(last, next, gapSeconds) || last.speaker !== next.speaker);
  return groups.map((group) => ({
    ...spanOf(group),
    confidence: confidenceOf(group.map(({ word }) => word)),
    channel: 0,
    transcript: textOf(group, language),
    words: group.map(({ word }) => word),
    ...speakerOf(group),
    id: randomUUID(),
  }));
}

/** Where the model gives no words: a line of subtitles is an utterance. */
export function utterancesOfLines(lines: readonly TimedText[]): Utterance[] {
  return lines.map(({ startSeconds: start, endSeconds: end, text: transcript }) => ({
    ...{ start, end, confidence: 0, channel: 0, transcript, words: [], id: randomUUID() },
  }));
}

export function paragraphsOf(words: readonly WrittenWord[], language: string): Paragraph[] {
  const paragraphs: WrittenWord[][][] = [];
  for (const sentence of sentencesOf(words)) {
    const open = paragraphs.at(-1);
    const last = open?.at(-1)?.at(-1)?.word;
    const [{ word: next } = {}] = sentence;
    const goesOn =
      last !== undefined &&
      next !== undefined &&
      last.speaker === next.speaker &&
      !isApart(last, next, PARAGRAPH_GAP_SECONDS);
    if (open !== undefined && goesOn && open.length < MOST_SENTENCES) open.push(sentence);
    else paragraphs.push([sentence]);
  }
  return paragraphs.map((sentences) => {
    const all = sentences.flat();
    return {
      sentences: sentences.map((sentence) => ({ text: textOf(sentence, language), ...spanOf(sentence) })),
      ...{ num_words: all.length, ...spanOf(all), ...speakerOf(all) },
    };
  });
}

/** As Deepgram writes them: a line for each, after an empty one, with its speaker where that is known. */
export function paragraphText(paragraphs: readonly Paragraph[], language: string): string {
  const texts = paragraphs.map(({ sentences, speaker }) => {
    const text = joinTexts(
      sentences.map((sentence) => sentence.text),
      language,
    );
    return speaker === undefined ? text : `Speaker ${speaker}: ${text}`;
  });
  return texts.length === 0 ? '' : `\n${texts.join('\n\n')}`;
}

/** The mean; 0 where there are none. */
export function confidenceOf(words: readonly ListenedWord[]): number {
  return round(words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length), 4);
}

/** None goes on past a change of speaker. */
function sentencesOf(words: readonly WrittenWord[]): WrittenWord[][] {
  let open = '';
  return split(words, (last, next, text) => {
    open += ` ${text}`;
    const ends = last.speaker !== next.speaker || (endsSentence(text) && !endsInAbbreviation(open));
    if (ends) open = '';
    return ends;
  });
}

/** `text`: of the word before. */
function split(
  words: readonly WrittenWord[],
  isBetween: (last: ListenedWord, next: ListenedWord, text: string) => boolean,
): WrittenWord[][] {
  const groups: WrittenWord[][] = [];
  for (const [index, word] of words.entries()) {
    const last = words[index - 1];
    if (last === undefined || isBetween(last.word, word.word, last.text)) groups.push([word]);
    else groups.at(-1)?.push(word);
  }
  return groups;
}

function isApart({ end }: ListenedWord, { start }: ListenedWord, seconds: number): boolean {
  return start - end >= seconds;
}

function spanOf(words: readonly WrittenWord[]): { start: number; end: number } {
  return { start: words[0]?.word.start ?? 0, end: words.at(-1)?.word.end ?? 0 };
}

function speakerOf([first]: readonly WrittenWord[]): { speaker?: number } {
  const speaker = first?.word.speaker;
  return speaker === undefined ? {} : { speaker };
}

function textOf(words: readonly WrittenWord[], language: string): string {
  return joinTexts(
    words.map(({ text }) => text),
    language,
  );
}
