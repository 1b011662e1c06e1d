/** The text of an answer, told while it is made. */
import { ClientGoneError, VerbatimError } from '../errors.js';
import type { FileToTranscribe, HeardPart, Transcript } from '../engine/types.js';
import type { TextTranslator } from './language-support.js';
import type { TranscriptionOptions } from './options.js';
import { sentenceTimer } from './sentence-times.js';

/** Who is told. Nobody waits for it: what it cannot take yet is its own to keep. */
export interface Listener {
  /** What comes next of the answer's text, in full up to `endSeconds` of the audio; joined, all of it is the text, or begins it. */
  said(text: string, endSeconds: number): void;
  /** Up to where its client has been told, as far as can be known; null: of nothing. */
  readonly deliveredSeconds: number | null;
  /** Once, before the work: how long the audio is, and how many credits are held for it. */
  measured?(durationSeconds: number, credits: number): void;
  /** How much of the audio lies behind. */
  transcribed?(seconds: number): void;
}

export interface Told {
  listener?: Listener | undefined;
  options: Pick<TranscriptionOptions, 'translateTo' | 'punctuate' | 'diarize'>;
  signal: AbortSignal;
}

/** One request's. Of an answer that is only made of the whole nothing is told. */
export class Telling {
  #translated = false;
  #language = '';

  constructor(private readonly request: Told) {}

  /** Whether what was told is a model's translation. */
  get isTranslated(): boolean {
    return this.#translated;
  }

  /** The spoken one, once something was heard. */
  get language(): string {
    return this.#language;
  }

  /** Of the file in its own language. */
  get heard(): FileToTranscribe['heard'] {
    const { translateTo } = this.request.options;
    if (!this.#tells) return undefined;
    return (part) => {
      this.#language = part.language;
      if (translateTo === null || part.language === translateTo) this.#say(part.text, endOf(part));
    };
  }

  /** Of a pass that translates. */
  get heardTranslated(): FileToTranscribe['heard'] {
    if (!this.#tells) return undefined;
    return (part) => {
      this.#translated = true;
      this.#say(part.text, endOf(part));
    };
  }

  /** Of the sentences of a transcript. */
  translatedOf(source: Transcript): Parameters<TextTranslator['translate']>[0]['translated'] {
    if (!this.#tells) return undefined;
    const timed = sentenceTimer(source);
    return ({ text, sentence }) => {
      this.#translated = true;
      this.#say(text, timed(sentence).endSeconds);
    };
  }

  get #tells(): boolean {
    const { listener, options } = this.request;
    return listener !== undefined && options.punctuate && !options.diarize;
  }

  #say(text: string, endSeconds: number): void {
    const { listener, signal } = this.request;
    if (!signal.aborted && text !== '') listener?.said(text, endSeconds);
  }
}

/** Whether what ended a request is its client's doing, and not ours. */
export function isLeft(reason: unknown): boolean {
  if (reason instanceof ClientGoneError) return true;
  return reason instanceof VerbatimError && reason.code === 'invalid_api_key';
}

function endOf({ segments }: HeardPart): number {
  return segments.at(-1)?.endSeconds ?? 0;
}
