import { MOST_SPEAKERS } from '../engine/speakers/speaker-engine.js';

/** The options of a client's request; language codes are ISO 639-1 already. */
export interface TranscriptionOptions {
  /** The name of an installed speech model; null: the default. */
  model: string | null;
  /** null: detect. */
  language: string | null;
  translateTo: string | null;
  punctuate: boolean;
  /** Whether the answer has speakers. */
  diarize: boolean;
  /** How many people speak, with `diarize`: from 1 to MOST_SPEAKERS, the defaults. */
  minSpeakers: number;
  maxSpeakers: number;
  timestamps: (typeof TIMESTAMPS)[number];
  format: AnswerFormat;
  /** Names and words to expect; null: none. */
  prompt: string | null;
  /** Whether the answer describes how the model's own segments were decoded. */
  describe: boolean;
  /** Of decoding, from 0 to 1; 0: the likeliest text. */
  temperature: number;
}

/** Which times an answer in JSON has; 'word': segments, too. */
export const TIMESTAMPS = ['none', 'segment', 'word'] as const;

/** Subtitles carry the times of segments, whatever `timestamps` says, and text carries none. */
export const ANSWER_FORMATS = ['json', 'text', 'srt', 'vtt'] as const;
export type AnswerFormat = (typeof ANSWER_FORMATS)[number];

/** Most characters (Unicode code points) of a prompt. */
export const MOST_PROMPT_CHARACTERS = 1000;

/** How many people speak where nobody says. */
export const ANY_SPEAKERS = { minSpeakers: 1, maxSpeakers: MOST_SPEAKERS } as const;

type TimeOptions = Pick<TranscriptionOptions, 'timestamps' | 'format' | 'diarize'>;

/**
 * Segments are cut from words, so a request for segments needs aligned words. Text with speakers is made of segments,
 * too.
 */
export function wantsSegments({ timestamps, format, diarize }: TimeOptions): boolean {
  return diarize || (format === 'json' ? timestamps !== 'none' : format !== 'text');
}

export function wantsWords({ timestamps, format, diarize }: TimeOptions): boolean {
  return format === 'json' && (diarize || timestamps === 'word');
}
