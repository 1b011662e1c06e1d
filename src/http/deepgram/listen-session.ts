/** One client of a live session, in Deepgram's messages. */
import { createHash } from 'node:crypto';
import type { VerbatimError } from '../../errors.js';
import type { FailedResult, FinalResult, PartialResult, SessionEnd, SessionEvent } from '../../live/events.js';
import type { DecodedSession } from '../../live/decoded-session.js';
import { LazySessionOf } from '../../live/lazy-session.js';
import { isEncoded, type EncodedFormat, type LiveFormat } from '../../live/options.js';
import type { LiveReservation, SessionOptions } from '../../live/service.js';
import type { LiveSession } from '../../live/session.js';
import type { Timer, Timers } from '../../timers.js';
import { requestError } from '../../transcription/request-errors.js';
import { closeCodeOf } from '../websocket/close-code.js';
import type { Message, SocketConnection } from '../websocket/connection.js';
import { alternativeOf, modelMetadata, round, type SpokenText } from './alternative.js';
import type { ListenOptions } from './query.js';

/** Without audio or KeepAlive for so long, the connection is closed. */
const IDLE_MS = 10_000;

export interface ListenParts {
  connection: SocketConnection;
  options: ListenOptions;
  reservation: LiveReservation;
  requestId: string;
  timers: Timers;
  /** Milliseconds since 1970. */
  now: () => number;
}

export class ListenSession {
  readonly #created: string;
  readonly #hash = createHash('sha256');
  readonly #live: LazySessionOf<LiveSession | DecodedSession, StartOptions>;
  #idle: Timer | null = null;
  /** Final results cover the time line up to here, seconds. */
  #coveredTo = 0;
  #lastWordEnd: number | null = null;
  #seconds = 0;
  /** Finalize messages whose result has not come. */
  #finalizing = 0;
  /** The utterance of the last final result goes on. */
  #isSpeaking = false;
  #isClosing = false;

  constructor(private readonly parts: ListenParts) {
    this.#created = new Date(parts.now()).toISOString();
    this.#live = new LazySessionOf(parts.reservation, (end) => this.#ended(end), start);
    this.#watchIdleness();
    parts.connection.begin({
      message: (message) => this.#message(message),
      closed: () => this.#closed(),
    });
  }

  async #message({ data, isBinary }: Message): Promise<void> {
    if (this.#isClosing) return;
    // While the server makes the client wait, it sends nothing.
    this.#idle?.cancel();
    this.#idle = null;
    try {
      if (isBinary) await this.#audio(data);
      else {
        await this.#control(data);
        await this.parts.connection.payForUseless(data.length);
      }
    } catch (error) {
      this.#fail(requestError(error));
    }
    this.#watchIdleness();
  }

  #watchIdleness(): void {
    if (this.#isClosing) return;
    this.#idle = this.parts.timers.after(IDLE_MS, () => {
      this.#isClosing = true;
      this.parts.connection.close(1011, 'NET-0001');
    });
  }

  async #audio(data: Buffer): Promise<void> {
    // An empty message ends the stream in Deepgram's older clients.
    if (data.length === 0) {
      this.#finish();
      return;
    }
    const { format, settings } = this.parts.options;
    const session = await this.#live.begin({ format, settings, emit: (event) => this.#emit(event) });
    this.#hash.update(data);
    await session.append(data);
  }

  async #control(data: Buffer): Promise<void> {
    const type = typeOf(data);
    if (type === 'Finalize') {
      const { session } = this.#live;
      if (session === null) this.#results(this.#nothing(), { isFinal: true, fromFinalize: true });
      else {
        this.#finalizing += 1;
        await session.endUtterance();
      }
    } else if (type === 'CloseStream') this.#finish();
    else if (type !== 'KeepAlive') {
      this.#send({
        type: 'Error',
        description: 'Messages of text are {"type": "KeepAlive" | "Finalize" | "CloseStream"}.',
        message: 'Unknown message',
        variant: 'UnknownMessage',
      });
    }
  }

  #finish(): void {
    this.#isClosing = true;
    this.#idle?.cancel();
    if (this.#live.session === null) this.#ended({ how: 'finished' });
    else this.#live.session.finish();
  }

  #emit(event: SessionEvent): void {
    if (event.type === 'progress') this.#progress(event.seconds);
    else if (event.type === 'speech_started') {
      const { vadEvents } = this.parts.options;
      if (vadEvents && event.isDetected)
        this.#send({ type: 'SpeechStarted', channel: [0], timestamp: round(event.atSeconds) });
    } else if (event.type === 'partial') this.#results(event, { isFinal: false });
    else if (event.type === 'final') this.#final(event);
    else if (event.type === 'failed') this.#failed(event);
    else if (event.type === 'no_utterance') {
      this.#finalizing -= 1;
      this.#results({ ...this.#nothing(), endSeconds: event.atSeconds }, { isFinal: true, fromFinalize: true });
    }
  }

  #final(event: FinalResult): void {
    this.#isSpeaking = event.endedBy === 'agreement';
    const fromFinalize = event.endedBy === 'client' && this.#finalizing > 0;
    if (fromFinalize) this.#finalizing -= 1;
    const { kind } = this.parts.options.settings.turns;
    const speechFinal = event.endedBy === 'silence' && kind !== 'manual';
    this.#results(event, { isFinal: true, speechFinal, fromFinalize });
    this.#lookForEnd();
  }

  /** An utterance whose text could not be had: the client gets the error, and an empty text. */
  #failed(event: FailedResult): void {
    this.#send({
      type: 'Error',
      description: event.error.message,
      message: event.error.code,
      variant: 'Transcription',
    });
    this.#final({ ...this.#nothing(), ...event, segments: [], type: 'final' });
  }

  #progress(seconds: number): void {
    this.#seconds = seconds;
    // What the client sent is still worked on: a short message may hold minutes.
    if (this.#idle !== null) {
      this.#idle.cancel();
      this.#watchIdleness();
    }
    this.#lookForEnd();
  }

  /** After the last word of a final result. */
  #lookForEnd(): void {
    const { utteranceEndMs } = this.parts.options;
    const last = this.#lastWordEnd;
    if (utteranceEndMs === null || last === null || this.#isSpeaking || this.#seconds - last < utteranceEndMs / 1000)
      return;
    this.#lastWordEnd = null;
    this.#send({ type: 'UtteranceEnd', channel: [0, 1], last_word_end: round(last) });
  }

  #results(
    result: SpokenText & Pick<PartialResult, 'endSeconds'>,
    { isFinal, speechFinal = false, fromFinalize = false }: Kind,
  ): void {
    const { options, requestId, reservation } = this.parts;
    const alternative = alternativeOf(result, {
      punctuate: options.punctuate,
      namesLanguages: options.settings.detectsEach,
    });
    const start = this.#coveredTo;
    const end = Math.max(start, result.endSeconds);
    if (isFinal) {
      this.#coveredTo = end;
      this.#lastWordEnd = alternative.words.at(-1)?.end ?? this.#lastWordEnd;
    }
    this.#send({
      ...{ type: 'Results', channel_index: [0, 1], start: round(start), duration: round(end - start) },
      ...{ is_final: isFinal, speech_final: speechFinal, from_finalize: fromFinalize },
      channel: { alternatives: [alternative] },
      metadata: { request_id: requestId, ...modelMetadata(reservation.info.modelName) },
    });
  }

  /** That nothing was spoken since the last final result. */
  #nothing(): SpokenText & Pick<PartialResult, 'endSeconds'> {
    return { endSeconds: this.#seconds, text: '', segments: [], language: 'en' };
  }

  #ended(end: SessionEnd): void {
    this.#isClosing = true;
    this.#idle?.cancel();
    if (end.how === 'left') return;
    const { connection, options } = this.parts;
    const duration = this.#live.session?.receivedSeconds ?? 0;
    if (end.how === 'refused') {
      this.#fail(end.error);
      return;
    }
    if (duration > this.#coveredTo) this.#results({ ...this.#nothing(), endSeconds: duration }, { isFinal: true });
    const { channels } = options;
    this.#send({
      ...{ type: 'Metadata', transaction_key: 'deprecated', request_id: this.parts.requestId },
      ...{ sha256: this.#hash.digest('hex'), created: this.#created, duration: round(duration), channels },
    });
    connection.close(1000, '');
    if (this.#live.session === null) this.#live.leave();
  }

  #fail(error: VerbatimError): void {
    this.#sendError(error);
    this.#isClosing = true;
    const isUndecodable = error.code === 'invalid_audio' || error.code === 'unsupported_audio_format';
    this.parts.connection.close(closeCodeOf(error), isUndecodable ? 'DATA-0000' : error.code);
  }

  #sendError({ code, message }: VerbatimError): void {
    this.#send({ type: 'Error', description: message, message: code, variant: code });
  }

  #closed(): void {
    this.#idle?.cancel();
    this.#isClosing = true;
    this.#live.leave();
  }

  #send(message: object): void {
    this.parts.connection.send(message);
  }
}

interface StartOptions extends Omit<SessionOptions, 'format'> {
  format: LiveFormat | EncodedFormat;
}

function start(place: LiveReservation, { format, ...options }: StartOptions): Promise<LiveSession | DecodedSession> {
  return isEncoded(format) ? place.startDecoded({ format, ...options }) : place.start({ format, ...options });
}

interface Kind {
  isFinal: boolean;
  speechFinal?: boolean;
  fromFinalize?: boolean;
}

function typeOf(data: Buffer): string | null {
  try {
    const message: unknown = JSON.parse(data.toString('utf8'));
    if (typeof message !== 'object' || message === null || !('type' in message)) return null;
    return typeof message.type === 'string' ? message.type : null;
  } catch {
    return null;
  }
}
