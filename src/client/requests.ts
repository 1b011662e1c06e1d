/** The parameters of the client's calls, and how they are sent. */
import type { FormData } from 'undici';

export interface TranscribeInput {
  /** Path of a file, which is streamed from disk, or its bytes. */
  audio: string | Blob;
  /** The name of an installed speech model; default: the server's default model. */
  model?: string;
  language?: string;
  translateTo?: string;
  punctuate?: boolean;
  /** Whether words and segments get their speakers. */
  diarize?: boolean;
  /** How many people speak, from 1 to 20, with `diarize`; not with `minSpeakers` or `maxSpeakers`. */
  numSpeakers?: number;
  minSpeakers?: number;
  maxSpeakers?: number;
  /** Which times the answer has; 'word' gives segments, too. */
  timestamps?: 'none' | 'segment' | 'word';
  /** 'json' gives an object, the others the text alone: of the translation where there is one. */
  format?: 'json' | 'text' | 'srt' | 'vtt';
  /** Names and words to expect, up to 1,000 characters. */
  prompt?: string;
  /** Whether the transcript is kept, see VerbatimClient.transcripts; default: as the account is set. */
  keep?: boolean;
}

export interface StreamInput {
  /** Path of a file, which is streamed from disk, or its bytes. */
  audio: string | Blob;
  /** The name of an installed speech model; default: the server's default model. */
  model?: string;
  /** Default: the transcript is in the spoken language. */
  intoEnglish?: boolean;
  /** Spoken language; not with `intoEnglish`. */
  language?: string;
  /** Names and words to expect. */
  prompt?: string;
  /** Whether segments have speakers; they, and the text, then come in the end. Not with `intoEnglish`. */
  diarize?: boolean;
}

export interface TranscribeOptions {
  /** Default: a new one for every call, so that retries are never charged twice. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface ApiRequest {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  body?: string | FormData;
  /** Default true. */
  repeatable?: boolean;
}

export type SendRequest = <T>(method: string, path: string, request: ApiRequest) => Promise<T>;
