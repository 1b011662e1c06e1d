/** One connection of Wyoming's protocol: what a client asks, and one utterance after the other. */
import type { Socket } from 'node:net';
import { Type, type Static, type TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import { normalizeLanguage } from '../../engine/languages.js';
import { TextJoiner } from '../../engine/transcript-text.js';
import { VerbatimError } from '../../errors.js';
import type { Identity } from '../../ledger/types.js';
import type { SessionEnd, SessionEvent } from '../../live/events.js';
import { DEFAULT_SETTINGS, DEFAULT_TURNS, type LiveFormat } from '../../live/options.js';
import type { LiveReservation } from '../../live/service.js';
import type { LiveSession } from '../../live/session.js';
import type { Timer } from '../../timers.js';
import { requestError } from '../../transcription/request-errors.js';
import type { HttpDeps } from '../app/deps.js';
import { newRequestId } from '../connections/request-id.js';
import { frameBytes, WyomingReader, type WyomingFrame } from './frames.js';
import { infoOf } from './info.js';

/** In the usage. */
export const WYOMING_ENDPOINT = 'wyoming';
/** For a whole frame to come, while nothing is asked of the server. */
const IDLE_MS = 30_000;
/** Frames within a span of time, over which the rest waits. */
const SPAN_MS = 100;
const MOST_IN_SPAN = 100;
/** For the last answer to leave. */
const FLUSH_MS = 2000;
/** Of answers that the client does not read. */
const MOST_UNREAD_BYTES = 2 ** 20;
/** The client's own detection ends a command sooner; a longer text comes in parts. */
const SILENCE_MS = 1000;

const Text = Type.String({ maxLength: 10_000 });
const Transcribe = Type.Object({
  name: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Null()])),
  language: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
});
const Ping = Type.Object({ text: Type.Optional(Type.Union([Text, Type.Null()])) });
const AudioFormat = Type.Object({
  rate: Type.Integer({ minimum: 8000, maximum: 48_000 }),
  width: Type.Literal(2),
  channels: Type.Integer({ minimum: 1, maximum: 8 }),
});
type Format = Static<typeof AudioFormat>;

export type WyomingDeps = Pick<HttpDeps, 'version' | 'live' | 'speechModels' | 'timers' | 'logger'> & {
  /** Rejects where the key is not valid any more. */
  identity: () => Promise<Identity>;
};

interface Utterance {
  format: Format;
  session: LiveSession;
  joiner: TextJoiner | null;
  text: string;
  language: string | null;
}

export class WyomingConnection {
  readonly #reader = new WyomingReader();
  readonly #idle: Timer;
  #wanted: Static<typeof Transcribe> = {};
  #utterance: Utterance | null = null;
  #inSpan = 0;
  #spanEnd = 0;
  #isBusy = false;
  #isOver = false;

  constructor(
    private readonly socket: Socket,
    private readonly deps: WyomingDeps,
  ) {
    this.#idle = deps.timers.after(IDLE_MS, () => {
      if (this.#isBusy) this.#idle.restart();
      else this.#fail(new VerbatimError('invalid_request', `No whole frame came for ${IDLE_MS / 1000} s.`));
    });
    socket.once('close', () => this.#closed());
  }

  /** Resolves when the connection is over. */
  async run(): Promise<void> {
    try {
      // What ends the loop leaves the socket open for the error that is on its way.
      for await (const bytes of this.socket.iterator({ destroyOnReturn: false })) {
        for (const frame of this.#reader.push(bytes as Buffer)) {
          this.#idle.restart();
          this.#isBusy = true;
          await this.#pace();
          if (this.#isOver) return;
          await this.#handle(frame);
          this.#isBusy = false;
        }
      }
    } catch (error) {
      this.#fail(requestError(error));
      return;
    }
    if (!this.#isOver) this.#finish();
  }

  async #handle({ type, data, payload }: WyomingFrame): Promise<void> {
    if (type === 'describe') this.#send('info', infoOf(this.deps.version, this.deps.speechModels));
    else if (type === 'ping') this.#send('pong', { text: checked(Ping, data, type).text ?? null });
    else if (type === 'transcribe') this.#wanted = checked(Transcribe, data, type);
    else if (type === 'audio-start') await this.#begin(checked(AudioFormat, data, type));
    else if (type === 'audio-chunk') await this.#audio(checked(AudioFormat, data, type), payload);
    else if (type === 'audio-stop') await this.#end();
    // Others are of services that this one is not; clients expect no answer to what is not known.
  }

  async #begin(format: Format): Promise<void> {
    if (this.#utterance !== null) throw invalidEvent('audio-start came before audio-stop.');
    const { live, speechModels } = this.deps;
    const { account, key } = await this.deps.identity();
    const { name, language } = this.#wanted;
    if (name !== null && name !== undefined && name !== '' && speechModels.find(name) === null) {
      throw new VerbatimError('unsupported_model', `There is no speech model "${name}".`);
    }
    const requestId = newRequestId();
    const owner = { accountId: account.id, keyId: key.id, requestId, endpoint: WYOMING_ENDPOINT };
    const reservation = await live.reserve(owner, name === undefined || name === '' ? null : name);
    const session = await this.#start(reservation, format, codeOf(language));
    this.#utterance = { format, session, joiner: null, text: '', language: null };
    const begun = this.deps.timers.now();
    void session.ended.then((end) => {
      this.#log(owner, end, begun);
      // The key, the balance or the server ended it.
      if (end.how === 'refused') this.#fail(end.error);
    });
    if (this.#isOver) session.leave();
  }

  async #start(reservation: LiveReservation, format: Format, language: string | null): Promise<LiveSession> {
    try {
      return await reservation.start({
        format: { encoding: 's16le', sampleRate: format.rate, channels: format.channels } satisfies LiveFormat,
        settings: { ...DEFAULT_SETTINGS, language, turns: { ...DEFAULT_TURNS, silenceMs: SILENCE_MS } },
        emit: (event) => this.#emit(event),
      });
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  async #audio(format: Format, samples: Buffer): Promise<void> {
    if (this.#utterance === null) await this.#begin(format);
    const utterance = this.#utterance;
    if (utterance === null) return;
    const { rate, channels } = utterance.format;
    if (format.rate !== rate || format.channels !== channels) {
      throw invalidEvent(`An audio-chunk has another format than the first: ${rate} Hz, ${channels} channels.`);
    }
    await utterance.session.append(samples);
  }

  async #end(): Promise<void> {
    const utterance = this.#utterance;
    if (utterance === null) throw invalidEvent('audio-stop came without audio.');
    utterance.session.finish();
    const end = await utterance.session.ended;
    this.#utterance = null;
    this.#wanted = {};
    if (end.how !== 'finished') return;
    const { text, language } = utterance;
    if (utterance.joiner === null) this.#send('transcript-start', { language });
    this.#send('transcript', { text, language });
    this.#send('transcript-stop');
  }

  #emit(event: SessionEvent): void {
    const utterance = this.#utterance;
    if (utterance === null) return;
    if (event.type === 'failed') this.#fail(event.error);
    if (event.type !== 'final' || event.text === '') return;
    const { language } = event;
    if (utterance.joiner === null) {
      utterance.language = language;
      this.#send('transcript-start', { language });
    }
    utterance.joiner ??= new TextJoiner(language);
    const text = utterance.joiner.add(event.text);
    utterance.text += text;
    this.#send('transcript-chunk', { text });
  }

  /** Clients do not read errors: the connection ends behind it. */
  #fail(error: VerbatimError): void {
    if (this.#isOver) return;
    this.#send('error', { text: error.message, code: error.code });
    this.#isOver = true;
    this.#idle.cancel();
    this.#utterance?.session.leave();
    this.#finish();
  }

  #finish(): void {
    this.socket.end();
    this.socket.resume();
    const timer = this.deps.timers.after(FLUSH_MS, () => this.socket.destroy());
    this.socket.once('close', () => timer.cancel());
  }

  async #pace(): Promise<void> {
    const { timers } = this.deps;
    const now = timers.now();
    if (now >= this.#spanEnd) {
      this.#spanEnd = now + SPAN_MS;
      this.#inSpan = 0;
    }
    if (++this.#inSpan <= MOST_IN_SPAN) return;
    await new Promise<void>((resolve) => void timers.after(this.#spanEnd - now, resolve));
    this.#inSpan = 0;
  }

  #send(type: string, data: object = {}): void {
    if (this.#isOver || this.socket.destroyed) return;
    this.socket.write(frameBytes(type, data));
    if (this.socket.writableLength > MOST_UNREAD_BYTES) this.socket.destroy();
  }

  #closed(): void {
    this.#isOver = true;
    this.#idle.cancel();
    this.#utterance?.session.leave();
  }

  #log(owner: { requestId: string; accountId: string; keyId: string }, end: SessionEnd, begun: number): void {
    const { requestId, accountId, keyId } = owner;
    this.deps.logger.info({
      ...{ requestId, accountId, keyId, route: WYOMING_ENDPOINT, ended: end.how },
      ...(end.how === 'refused' ? { code: end.error.code } : {}),
      durationMs: Math.round((this.deps.timers.now() - begun) * 10) / 10,
    });
  }
}

function checked<T extends TSchema>(schema: T, data: unknown, type: string): Static<T> {
  const [error] = Errors(schema, data);
  if (error === undefined) return data as Static<T>;
  throw invalidEvent(`${type}${error.instancePath.replaceAll('/', '.')} ${error.message}.`);
}

function codeOf(language: string | null | undefined): string | null {
  if (language === null || language === undefined || language === '' || language === 'auto') return null;
  const code = normalizeLanguage(language);
  if (code !== null) return code;
  throw new VerbatimError('unsupported_language', `"${language}" is not a language code that the service knows.`);
}

function invalidEvent(message: string): VerbatimError {
  return new VerbatimError('invalid_request', message);
}
