/**
 * A transcript in events while it is made: each piece as soon as it is recognised, or together with others once the
 * client has room.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { StreamListener } from '../../transcription/result-stream.js';
import { modelOf, type TranscriptionAnswer } from '../../transcription/transcription.js';
import { eventBytes, type EventStream, type ServerEvent } from '../app/event-stream.js';
import type { Exchange } from '../app/exchange.js';
import { headerOf } from '../schema/headers.js';
import { IdempotencyReplayed, modelHeader } from './transcription-headers.js';

/** How far the work is. */
export interface WorkProgress {
  doneSeconds: number;
  /** Of the audio. */
  seconds: number;
  /** Held for it. */
  credits: number;
}

/** An endpoint's own events. */
export interface TranscriptEvents {
  headers: OutgoingHttpHeaders;
  /** Absent: nobody is notified. */
  progress?: (progress: WorkProgress) => ServerEvent;
  delta: (text: string) => ServerEvent;
  /** The last event, where so many characters of the answer's text were sent already. */
  done: (answer: TranscriptionAnswer, sentLength: number) => readonly ServerEvent[] | Promise<readonly ServerEvent[]>;
}

export class TranscriptStream implements StreamListener {
  readonly #stream: EventStream;
  #headers: OutgoingHttpHeaders;
  #textLength = 0;
  /** Text that the client has had no room for, and the position in the audio that it goes up to. */
  #pending = '';
  #pendingSeconds = 0;
  #deliveredSeconds: number | null = null;
  #progress: WorkProgress | null = null;
  /** The progress is newer than the one that was sent. */
  #isAhead = false;

  constructor(
    exchange: Pick<Exchange, 'events'>,
    private readonly events: TranscriptEvents,
  ) {
    this.#headers = events.headers;
    this.#stream = exchange.events(() => this.#headers);
    this.#stream.onRoom(() => this.#flush());
  }

  /** The text that the system has taken: the client has no more than that. */
  get deliveredSeconds(): number | null {
    return this.#deliveredSeconds;
  }

  onText(text: string, endSeconds: number): void {
    this.#textLength += text.length;
    this.#pending += text;
    this.#pendingSeconds = endSeconds;
    this.#flush();
  }

  onModel(model: string): void {
    this.#headers = { ...this.#headers, ...modelHeader(model) };
  }

  onMeasured(seconds: number, credits: number): void {
    this.#progressed({ doneSeconds: 0, seconds, credits });
  }

  onProgress(doneSeconds: number): void {
    if (this.#progress !== null) this.#progressed({ ...this.#progress, doneSeconds });
  }

  /** Prepares the end, with the text that was not sent yet; the returned function sends it. */
  async ending(answer: TranscriptionAnswer): Promise<() => void> {
    const sentLength = this.#textLength - this.#pending.length;
    // The end has all pending text.
    this.#pending = '';
    this.#isAhead = false;
    if (answer.replayed) {
      const replayed = { ...headerOf(IdempotencyReplayed, 'true'), ...modelHeader(modelOf(answer)) };
      this.#headers = { ...this.#headers, ...replayed };
    }
    const end = await eventBytes(await this.events.done(answer, sentLength));
    return () => this.#stream.endWith(end);
  }

  #progressed(progress: WorkProgress): void {
    this.#progress = progress;
    this.#isAhead = true;
    this.#flush();
  }

  #flush(): void {
    this.#flushText();
    const { progress } = this.events;
    if (!this.#isAhead || this.#progress === null || progress === undefined || this.#stream.isFull) return;
    this.#isAhead = false;
    this.#stream.send(progress(this.#progress), () => undefined);
  }

  #flushText(): void {
    if (this.#pending === '' || this.#stream.isFull) return;
    const seconds = this.#pendingSeconds;
    const event = this.events.delta(this.#pending);
    this.#pending = '';
    this.#stream.send(event, () => (this.#deliveredSeconds = seconds));
  }
}
