/** A transcript with its words, as Deepgram's answers have it. */
import type { Segment } from '../../engine/binding.js';
import { piecesWithoutPunctuation, withoutPunctuation } from '../../transcription/punctuation.js';

export interface DeepgramWord {
  word: string;
  start: number;
  end: number;
  confidence: number;
  punctuated_word?: string;
  language?: string;
}

export interface Alternative {
  transcript: string;
  confidence: number;
  words: DeepgramWord[];
  languages?: string[];
}

export interface AlternativeOptions {
  punctuate: boolean;
  /** Whether words carry their language. */
  namesLanguages: boolean;
}

/** `segments`: with words. */
export function alternativeOf(
  { text, segments, language }: { text: string; segments: readonly Segment[]; language: string },
  { punctuate, namesLanguages }: AlternativeOptions,
): Alternative {
  const spoken = segments.flatMap(({ words = [] }) => words);
  const bare = piecesWithoutPunctuation(
    spoken.map((word) => word.text),
    language,
  );
  const words = spoken.flatMap(({ text: written, startSeconds, endSeconds, probability }, index) => {
    const word = bare[index] ?? '';
    if (word === '') return [];
    return {
      ...{ word, start: round(startSeconds), end: round(endSeconds), confidence: round(probability, 4) },
      ...(punctuate ? { punctuated_word: written.trim() } : {}),
      ...(namesLanguages ? { language } : {}),
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
