/** Reads a request's body chunk by chunk: each in the upload's turn, and the next one when this one is worked off. */
import type { IncomingMessage } from 'node:http';
import { VerbatimError } from '../../errors.js';
import type { Timer, Timers } from '../../timers.js';
import { takeInput, whenInputWaits } from '../connections/one-at-a-time.js';
import type { UploadTurn } from './upload-turns.js';

export interface BodyRules {
  /** Longest silence of the client. */
  idleMs: number;
  timers: Timers;
  /** Nothing is taken of the body without. */
  turn: UploadTurn;
  signal: AbortSignal;
}

export interface BodyConsumer {
  /** Throws what refuses the body. `done`: the chunk is worked off. */
  take: (chunk: Buffer, done: () => void) => void;
  /** The body is whole. */
  end: () => void;
}

export class BodyReader {
  #fail: (error: Error) => void = () => undefined;
  #idleTimer: Timer | undefined;
  /** In this turn. */
  #hasChunk = false;
  #onData: ((chunk: Buffer) => void) | undefined;
  #onAbort: (() => void) | undefined;

  constructor(
    private readonly req: IncomingMessage,
    private readonly rules: BodyRules,
    private readonly consumer: BodyConsumer,
  ) {}

  /** `fail`: called with what the consumer throws, with the signal's reason, or when the client is silent too long. */
  begin(fail: (error: Error) => void): void {
    const { signal, turn } = this.rules;
    this.#onAbort = () => fail(signal.reason as Error);
    if (signal.aborted) {
      this.#onAbort();
      return;
    }
    signal.addEventListener('abort', this.#onAbort);
    this.#fail = fail;
    this.#onData = (chunk) => this.#pass(chunk);
    this.req.pause();
    this.req.on('data', this.#onData);
    this.req.once('end', () => {
      turn.end();
      this.consumer.end();
    });
    this.#awaitBody();
  }

  /** Takes nothing more. */
  stop(): void {
    this.#idleTimer?.cancel();
    this.rules.turn.end();
    if (this.#onData) this.req.off('data', this.#onData);
    this.#onData = undefined;
    if (this.#onAbort) this.rules.signal.removeEventListener('abort', this.#onAbort);
  }

  /** The client's time runs only while nothing of it is here. */
  #awaitBody(): void {
    const { req } = this;
    const { idleMs, timers } = this.rules;
    if (this.#hasInput()) {
      this.#takeTurn();
      return;
    }
    this.#idleTimer = timers.after(idleMs, () => this.#fail(idle(idleMs)));
    whenInputWaits(req, () => {
      this.#idleTimer?.cancel();
      this.#takeTurn();
    });
  }

  /** In the request itself, where it has to be resumed only: its end, at least, when nothing is to come. */
  #hasInput(): boolean {
    const { complete, readableLength, headers } = this.req;
    return complete || readableLength > 0 || headers['content-length'] === '0';
  }

  #takeTurn(): void {
    const { req } = this;
    this.rules.turn.take(() => {
      this.#hasChunk = false;
      if (this.#hasInput()) req.resume();
      else
        takeInput(req, () => {
          // The line before a chunk, say.
          if (!this.#hasChunk && !this.#hasInput()) this.#endTurn();
        });
    });
  }

  #endTurn(): void {
    this.req.pause();
    this.rules.turn.end();
    if (this.#onData !== undefined) this.#awaitBody();
  }

  /**
   * The next chunk is taken when this one is on the disk: a pipe would hold one in each of its stages, for every
   * upload.
   */
  #pass(chunk: Buffer): void {
    this.#hasChunk = true;
    this.req.pause();
    try {
      this.consumer.take(chunk, () => this.#endTurn());
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function idle(ms: number): VerbatimError {
  return new VerbatimError('invalid_request', `The upload made no progress for ${ms / 1000} s.`);
}
