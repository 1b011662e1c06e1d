/** One client of a transcription session: its events, as OpenAI documents them. */
import { VerbatimError } from '../../errors.js';
import type { FailedResult, FinalResult, SessionEvent, SpeechStopped } from '../../live/events.js';
import { randomId } from '../../ledger/ids.js';
import { LazySession } from '../../live/lazy-session.js';
import type { LiveFormat, LiveSettings } from '../../live/options.js';
import type { LiveReservation } from '../../live/service.js';
import { openAiRow } from '../openai/errors.js';
import type { SocketConnection } from '../websocket/connection.js';
import { audioOf } from './client-events.js';
import type { RealtimeDialect } from './dialects.js';
import { EventConnection } from './event-connection.js';
import { addTo, Items } from './items.js';
import { liveSettings } from './live-settings.js';
import { MODEL_PARAM, PCM_RATE, type RealtimeSettings, type SampleFormat } from './session-schema.js';

const G711_RATE = 8000;
const FORMATS: Readonly<Record<SampleFormat, LiveFormat>> = {
  'audio/pcm': { encoding: 's16le', sampleRate: PCM_RATE, channels: 1 },
  'audio/pcmu': { encoding: 'mulaw', sampleRate: G711_RATE, channels: 1 },
  'audio/pcma': { encoding: 'alaw', sampleRate: G711_RATE, channels: 1 },
};
/** Of audio in a turn that a commit ends. */
const SHORTEST_COMMIT_MS = 100;

export interface RealtimeParts {
  connection: SocketConnection;
  dialect: RealtimeDialect;
  settings: RealtimeSettings;
  reservation: LiveReservation;
  /** Another place, for another model. */
  reserve: (model: string | null, instead: LiveReservation) => Promise<LiveReservation>;
  /** The installed model that a name stands for; null: the default one. Throws `model_not_found`. */
  installed: (model: string | null) => string | null;
  /** Seconds since 1970. */
  expiresAt: number;
}

export class TranscriptionSession {
  readonly #id = randomId('sess');
  readonly #items = new Items();
  #settings: RealtimeSettings;
  readonly #events: EventConnection;
  readonly #live: LazySession;
  /** Of received audio, where the last turn ended or was cleared. */
  #turnEndSeconds = 0;

  constructor(private readonly parts: RealtimeParts) {
    this.#settings = parts.settings;
    this.#events = new EventConnection(parts.connection, errorCode);
    this.#live = new LazySession(parts.reservation, (end) => this.#events.end(end));
    this.#events.send(parts.dialect.created, { session: this.#body() });
    this.#events.begin({ event: (event) => this.#handle(event), closed: () => this.#live.leave() });
  }

  async #handle(event: { type: string }): Promise<void> {
    const { dialect } = this.parts;
    switch (event.type) {
      case dialect.update:
        await this.#update((event as { session?: unknown }).session);
        return;
      case 'input_audio_buffer.append':
        await this.#append(audioOf(event));
        return;
      case 'input_audio_buffer.commit':
        this.#commit();
        return;
      case 'input_audio_buffer.clear':
        this.#clear();
        return;
      default: {
        const known = [
          dialect.update,
          ...['append', 'commit', 'clear'].map((name) => `input_audio_buffer.${name}`),
        ].join(', ');
        const message = `Transcription sessions know no event "${event.type.slice(0, 100)}"; they know: ${known}.`;
        throw new VerbatimError('invalid_request', message, { param: 'type' });
      }
    }
  }

  async #update(session: unknown): Promise<void> {
    const settings = this.parts.dialect.read(this.#settings, session);
    const live = liveSettings(settings);
    if (this.#live.session !== null && settings.format !== this.#settings.format) {
      const message = 'session.audio.input.format cannot change once audio was sent.';
      throw new VerbatimError('invalid_request', message, { param: 'session.audio.input.format' });
    }
    const { installed } = this.parts;
    const model = installed(settings.model);
    if (model === installed(this.#settings.model)) this.#live.reservation.check(live);
    else await this.#changeModel(model, live);
    this.#settings = settings;
    this.#live.session?.configure(live);
    this.#events.send(this.parts.dialect.updated, { session: this.#body() });
  }

  async #changeModel(model: string | null, settings: LiveSettings): Promise<void> {
    if (this.#live.session !== null) {
      const message = 'The model cannot change once audio was sent; open another session.';
      throw new VerbatimError('invalid_request', message, { param: MODEL_PARAM });
    }
    const other = await this.parts.reserve(model, this.#live.reservation);
    other.orRelease(() => other.check(settings));
    this.#live.moveTo(other);
  }

  async #append(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    const session = await this.#live.begin({
      format: FORMATS[this.#settings.format],
      settings: liveSettings(this.#settings),
      emit: (event) => this.#emit(event),
    });
    await session.append(bytes);
  }

  /** It is answered when the audio before it was worked on: what was committed in it is no more abandoned. */
  #clear(): void {
    const { session } = this.#live;
    if (session === null) this.#cleared();
    else {
      this.#turnEndSeconds = session.receivedSeconds;
      session.clear();
    }
  }

  #commit(): void {
    const { session } = this.#live;
    const seconds = (session?.receivedSeconds ?? 0) - this.#turnEndSeconds;
    if (session === null || Math.round(seconds * 1000) < SHORTEST_COMMIT_MS) throw emptyCommit(seconds);
    session.endUtterance();
  }

  #emit(event: SessionEvent): void {
    if (event.type === 'speech_started') {
      const { id, isAnnounced } = this.#items.begin(event.utterance, event.atSeconds, event.isDetected);
      if (!isAnnounced) return;
      const audioStart = Math.round(event.atSeconds * 1000);
      this.#events.send('input_audio_buffer.speech_started', { audio_start_ms: audioStart, item_id: id });
    } else if (event.type === 'speech_stopped') this.#stopped(event);
    else if (event.type === 'final') this.#final(event);
    else if (event.type === 'failed') this.#failed(event);
    else if (event.type === 'cleared') this.#cleared();
    else if (event.type === 'no_utterance') this.#events.error(emptyCommit(0));
  }

  /** What was sent before the client cleared it is over: it is not answered any more. */
  #cleared(): void {
    this.#items.clear();
    this.#events.send('input_audio_buffer.cleared', {});
  }

  #stopped({ utterance, atSeconds }: SpeechStopped): void {
    const item = this.#items.of(utterance);
    if (item === undefined) return;
    this.#turnEndSeconds = Math.max(this.#turnEndSeconds, atSeconds);
    const audioEnd = Math.round(atSeconds * 1000);
    if (item.isAnnounced)
      this.#events.send('input_audio_buffer.speech_stopped', { audio_end_ms: audioEnd, item_id: item.id });
    this.#items.commit(item);
    const previous = { previous_item_id: item.previousId };
    this.#events.send('input_audio_buffer.committed', { ...previous, item_id: item.id });
    const content = [{ type: 'input_audio', transcript: null }];
    const body = { id: item.id, object: 'realtime.item', type: 'message', role: 'user', status: 'completed', content };
    for (const type of this.parts.dialect.itemEvents) this.#events.send(type, { ...previous, item: body });
  }

  #final(result: FinalResult): void {
    const item = this.#items.of(result.utterance);
    if (item === undefined) return;
    const before = item.logprobs.length;
    const delta = addTo(item, result);
    const about = { item_id: item.id, content_index: 0 };
    const logprobs = (from: number): object =>
      this.#settings.includesLogprobs ? { logprobs: item.logprobs.slice(from) } : {};
    if (delta !== '') this.#events.send(`${TRANSCRIPTION}.delta`, { ...about, delta, ...logprobs(before) });
    if (result.endedBy === 'length' || result.endedBy === 'agreement') return;
    this.#items.end(result.utterance);
    if (item.error !== null) {
      this.#events.send(`${TRANSCRIPTION}.failed`, {
        ...about,
        error: { type: 'transcription_error', ...item.error, param: null },
      });
      return;
    }
    const seconds = Math.round((result.endSeconds - item.startSeconds) * 1000) / 1000;
    this.#events.send(`${TRANSCRIPTION}.completed`, {
      ...{ ...about, transcript: item.transcript, usage: { type: 'duration', seconds } },
      ...logprobs(0),
      ...(item.language === null ? {} : { languages: [{ code: item.language }] }),
    });
  }

  #failed(result: FailedResult): void {
    const item = this.#items.of(result.utterance);
    if (item === undefined) return;
    const { code } = openAiRow(result.error.code);
    item.error ??= { code, message: result.error.message };
    this.#final({ ...result, type: 'final', text: '', segments: [], language: '' });
  }

  #body(): object {
    const { modelName } = this.#live.reservation.info;
    return this.parts.dialect.body(this.#settings, {
      ...{ id: this.#id, expiresAt: this.parts.expiresAt },
      model: this.#settings.model ?? modelName,
    });
  }
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

class EmptyCommit extends VerbatimError {}

function errorCode(error: VerbatimError): string | null {
  return error instanceof EmptyCommit ? 'input_audio_buffer_commit_empty' : openAiRow(error.code).code;
}

function emptyCommit(seconds: number): VerbatimError {
  const has = `${Math.round(seconds * 1000)} ms`;
  const message = `The buffer holds ${has} of speech that was not committed; a commit takes at least 100 ms.`;
  return new EmptyCommit('invalid_request', message);
}
