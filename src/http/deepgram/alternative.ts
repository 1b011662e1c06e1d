/** A transcript with its words, as Deepgram's answers have it. */
import type { Segment } from '../../engine/binding.js';
import type { LiveTurn } from '../../engine/types.js';
import { speakerAt } from '../../live/session-speakers.js';
import { piecesWithoutPunctuation, withoutPunctuation } from '../../transcription/punctuation.js';

export interface DeepgramWord {
  word: string;
  start: number;
  end: number;
  confidence: number;
  punctuated_word?: string;
  language?: string;
  /** From 0. */
  speaker?: number;
}

export interface Alternative {
  transcript: string;
  confidence: number;
  words: DeepgramWord[];
  languages?: string[];
}

/** What was said, with words. */
export interface SpokenText {
  text: string;
  segments: readonly Segment[];
  language: string;
  /** As FinalResult.turns. */
  turns?: readonly LiveTurn[];
}

export interface AlternativeOptions {
  punctuate: boolean;
  /** Whether words carry their language. */
  namesLanguages: boolean;
}

export function alternativeOf(
  { text, segments, language, turns }: SpokenText,
  { punctuate, namesLanguages }: AlternativeOptions,
): Alternative {
  const spoken = segments.flatMap(({ words = [] }) => words);
  const bare = piecesWithoutPunctuation(
    spoken.map((word) => word.text),
    language,
  );
  const speakerOf = speakerAt(turns);
  const words = spoken.flatMap(({ text: written, startSeconds, endSeconds, probability }, index) => {
    const word = bare[index] ?? '';
    if (word === '') return [];
    const speaker = speakerOf({ startSeconds, endSeconds });
    return {
      ...{ word, start: round(startSeconds), end: round(endSeconds), confidence: round(probability, 4) },
      ...(punctuate ? { punctuated_word: written.trim() } : {}),
      ...(namesLanguages ? { language } : {}),
      ...(speaker === null ? {} : { speaker }),
    };
  });
  const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / Math.max(1, words.length);
  return {
    transcript: punctuate ? text : withoutPunctuation(text, language),
    confidence: round(confidence, 4),
    words,
    ...(namesLanguages && words.length > 0 ? { languages: [language] } : {}),
  };
}

export function round(value: number, digits = 3): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

const MODEL_VERSION = '1';

export function modelInfo(name: string): { name: string; version: string; arch: string } {
  return { name, version: MODEL_VERSION, arch: 'verbatim' };
}

/** Of every result of a live session. */
export function modelMetadata(name: string): object {
  return { model_info: modelInfo(name), model_uuid: name };
}
