/** The text of an answer, sent while it is made. */
import { ClientGoneError, VerbatimError } from '../errors.js';
import type { OnWindow, Transcript, TranscriptPart } from '../engine/types.js';
import type { TextTranslator } from './language-support.js';
import type { TranscriptionOptions } from './options.js';
import { sentenceTimer } from './sentence-times.js';

/** Receives the text. Nobody waits for it: it has to keep the text that it cannot send yet. */
export interface StreamListener {
  /**
   * The next piece of the answer's text, complete up to `endSeconds` of the audio. Joined, the pieces are the text, or
   * its beginning.
   */
  onText(text: string, endSeconds: number): void;
  /** Up to where its client has received the text, as far as can be known; null: nothing. */
  readonly deliveredSeconds: number | null;
  /** Once, before the audio is measured: the name of the model that is to transcribe it. */
  onModel?(model: string): void;
  /** Once, before the work: how long the audio is, and how many credits are held for it. */
  onMeasured?(durationSeconds: number, credits: number): void;
  /** How much of the audio lies behind. */
  onProgress?(seconds: number): void;
}

export interface StreamedRequest {
  listener?: StreamListener | undefined;
  options: Pick<TranscriptionOptions, 'translateTo' | 'punctuate' | 'diarize'>;
  signal: AbortSignal;
}

/** One request's. Of an answer that is only made of the whole nothing is sent before its end. */
export class ResultStream {
  #translated = false;
  #language = '';

  constructor(private readonly request: StreamedRequest) {}

  /** Whether the text that was sent is a model's translation. */
  get isTranslated(): boolean {
    return this.#translated;
  }

  /** The spoken one, once something was recognised. */
  get language(): string {
    return this.#language;
  }

  /** Whether text is sent before the end. */
  get isLive(): boolean {
    const { listener, options } = this.request;
    return listener !== undefined && options.punctuate && !options.diarize;
  }

  /** Of the file in its own language. */
  readonly onWindow: OnWindow = ({ seconds, part }) => {
    if (part !== null && this.isLive) this.#onPart(part);
    this.request.listener?.onProgress?.(seconds);
  };

  /** Of a pass that translates. */
  readonly onTranslatedWindow: OnWindow = ({ part }) => {
    if (part === null || !this.isLive) return;
    this.#translated = true;
    this.#send(part.text, endOf(part));
  };

  /** Of the sentences of a transcript. */
  translatedOf(source: Transcript): Parameters<TextTranslator['translate']>[0]['translated'] {
    if (!this.isLive) return undefined;
    const timed = sentenceTimer(source);
    return ({ text, sentence }) => {
      this.#translated = true;
      this.#send(text, timed(sentence).endSeconds);
    };
  }

  #onPart(part: TranscriptPart): void {
    const { translateTo } = this.request.options;
    this.#language = part.language;
    if (translateTo === null || part.language === translateTo) this.#send(part.text, endOf(part));
  }

  #send(text: string, endSeconds: number): void {
    const { listener, signal } = this.request;
    if (!signal.aborted && text !== '') listener?.onText(text, endSeconds);
  }
}

/** Whether what ended a request is its client's doing, and not ours. */
export function isClientGone(reason: unknown): boolean {
  if (reason instanceof ClientGoneError) return true;
  return reason instanceof VerbatimError && reason.code === 'invalid_api_key';
}

function endOf({ segments }: TranscriptPart): number {
  return segments.at(-1)?.endSeconds ?? 0;
}
