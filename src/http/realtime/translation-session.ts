/** One client of a translation session: its events, as OpenAI documents them. Text only. */
import { VerbatimError } from '../../errors.js';
import type { SessionEnd, SessionEvent } from '../../live/events.js';
import { randomId } from '../../ledger/ids.js';
import { LazySession } from '../../live/lazy-session.js';
import type { LiveReservation } from '../../live/service.js';
import { invalid } from '../schema/shape.js';
import type { SocketConnection } from '../websocket/connection.js';
import { AppendedText } from './appended-text.js';
import { audioOf } from './client-events.js';
import { EventConnection } from './event-connection.js';
import { PCM_RATE } from './session-schema.js';
import { checkTranslation, type CompleteTranslation } from './translation-check.js';
import { translationBody, translationLiveSettings, updatedTranslation } from './translation-schema.js';

const FORMAT = { encoding: 's16le', sampleRate: PCM_RATE, channels: 1 } as const;
const APPEND = 'session.input_audio_buffer.append';
const EVENTS = ['session.update', APPEND, 'session.close'];
/** Of the time line of a session. */
const STEP_MS = 200;

export interface TranslationParts {
  connection: SocketConnection;
  settings: CompleteTranslation;
  reservation: LiveReservation;
  /** As TranslationCheck.installed. */
  installed: (model: string | null) => string | null;
  /** Seconds since 1970. */
  expiresAt: number;
}

export class TranslationSession {
  readonly #id = randomId('sess');
  readonly #spoken = new AppendedText();
  readonly #translated = new AppendedText();
  #settings: CompleteTranslation;
  readonly #events: EventConnection;
  readonly #live: LazySession;
  #isClosing = false;

  constructor(private readonly parts: TranslationParts) {
    this.#settings = parts.settings;
    this.#events = new EventConnection(parts.connection);
    this.#live = new LazySession(parts.reservation, (end) => this.#ended(end));
    this.#events.send('session.created', { session: this.#body() });
    this.#events.begin({ event: (event) => this.#handle(event), closed: () => this.#closed() });
  }

  async #handle(event: { type: string }): Promise<void> {
    if (!EVENTS.includes(event.type)) {
      const known = EVENTS.join(', ');
      throw invalid('type', `Translation sessions know no event "${event.type.slice(0, 100)}"; they know: ${known}.`);
    }
    if (this.#isClosing) throw new VerbatimError('invalid_request', 'The session is closed: it takes no more events.');
    if (event.type === 'session.update') this.#update((event as { session?: unknown }).session);
    else if (event.type === APPEND) await this.#append(audioOf(event));
    else this.#close();
  }

  #update(session: unknown): void {
    const { reservation, installed } = this.parts;
    const settings = checkTranslation(updatedTranslation(this.#settings, session), {
      abilities: reservation,
      installed,
    });
    this.#settings = settings;
    this.#live.session?.configure(translationLiveSettings(settings));
    this.#events.send('session.updated', { session: this.#body() });
  }

  async #append(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    const session = await this.#live.begin({
      format: FORMAT,
      settings: translationLiveSettings(this.#settings),
      emit: (event) => this.#emit(event),
    });
    await session.append(bytes);
  }

  /** What was sent is still translated. */
  #close(): void {
    this.#isClosing = true;
    const { session } = this.#live;
    if (session === null) this.#ended({ how: 'finished' });
    else session.finish();
  }

  #emit(event: SessionEvent): void {
    if (event.type === 'failed' || event.type === 'translation_failed') this.#events.error(event.error);
    else if (event.type === 'translated') this.#delta('session.output_transcript.delta', this.#translated, event);
    else if (event.type === 'final' && this.#settings.transcription !== null) {
      this.#delta('session.input_transcript.delta', this.#spoken, event);
    }
  }

  #delta(
    type: string,
    before: AppendedText,
    { text, language, endSeconds }: { text: string; language: string; endSeconds: number },
  ): void {
    const delta = before.add(text, language);
    if (delta !== '')
      this.#events.send(type, { delta, elapsed_ms: STEP_MS * Math.ceil((endSeconds * 1000) / STEP_MS) });
  }

  #ended(end: SessionEnd): void {
    this.#isClosing = true;
    if (end.how !== 'refused') this.#events.send('session.closed', {});
    this.#events.end(end);
  }

  #closed(): void {
    this.#isClosing = true;
    this.#live.leave();
  }

  #body(): object {
    const { reservation, expiresAt } = this.parts;
    const model = this.#settings.model ?? reservation.info.modelName;
    return translationBody(this.#settings, { id: this.#id, expiresAt, model });
  }
}
