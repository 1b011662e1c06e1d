/** The protocols that a live session is measured over: what is sent, and what the answers say. */
import { normalizeLanguage } from '../../src/engine/languages.js';

export const PROTOCOLS = ['openai', 'deepgram'] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

export interface LiveChoices {
  /** An ISO 639-1 code; 'auto': it is detected. */
  language: string;
  /** The endpoint: an utterance ends after so much silence. */
  silenceMs: number;
  /** Results while an utterance goes on, where the protocol has them. */
  interim: boolean;
}

/** What an answer says. Seconds are those of the audio. */
export type LiveAnswer =
  | { kind: 'ready' }
  /** The range that ends there was covered for the first time, or again. */
  | { kind: 'interim'; startSeconds: number; endSeconds: number }
  | {
      kind: 'final';
      text: string;
      /** null: the protocol does not say. */
      startSeconds: number | null;
      endSeconds: number | null;
      /** Where the silence that ended the utterance was complete; null: something else ended it. */
      endpointSeconds: number | null;
      /** Whether it contradicts what was sent as final before. */
      contradicts: boolean;
    }
  | { kind: 'speech started'; atSeconds: number }
  | { kind: 'failed'; message: string }
  /** Nothing of what was sent is left to be answered. */
  | { kind: 'done' };

/** Of one session. */
export interface LiveProtocol {
  /** Samples a second of what is sent. */
  readonly rate: number;
  readonly path: string;
  readonly authorization: string;
  /** Sent before any audio. */
  readonly opening: readonly string[];
  audio(piece: Buffer): string | Buffer;
  /** Sent behind the last audio; null: the silence at its end is enough. */
  readonly closing: string | null;
  read(message: string): LiveAnswer[];
}

export function liveProtocol(name: ProtocolName, key: string, choices: LiveChoices): LiveProtocol {
  return name === 'openai' ? new OpenAiProtocol(key, choices) : new DeepgramProtocol(key, choices);
}

interface ServerMessage {
  type?: string;
  item_id?: string;
  audio_start_ms?: number;
  audio_end_ms?: number;
  delta?: string;
  transcript?: string;
  error?: { message?: string };
  is_final?: boolean;
  speech_final?: boolean;
  start?: number;
  duration?: number;
  timestamp?: number;
  description?: string;
  channel?: { alternatives?: { transcript?: string }[] };
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

class OpenAiProtocol implements LiveProtocol {
  readonly rate = 24_000;
  readonly path = '/v1/realtime?intent=transcription';
  readonly authorization: string;
  readonly opening: readonly string[];
  readonly closing = null;
  readonly #deltas = new Map<string, string>();
  readonly #ends = new Map<string, number>();
  #open = 0;

  constructor(key: string, { language, silenceMs, interim }: LiveChoices) {
    this.authorization = `Bearer ${key}`;
    const input = {
      format: { type: 'audio/pcm', rate: this.rate },
      // The longest delay is that of the whole utterance.
      transcription: { ...(language === 'auto' ? {} : { language }), ...(interim ? {} : { delay: 'xhigh' }) },
      turn_detection: { type: 'server_vad', silence_duration_ms: silenceMs },
    };
    this.opening = [JSON.stringify({ type: 'session.update', session: { type: 'transcription', audio: { input } } })];
  }

  audio(piece: Buffer): string {
    return JSON.stringify({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
  }

  read(message: string): LiveAnswer[] {
    const { type, item_id: item = '', ...answer } = JSON.parse(message) as ServerMessage;
    if (type === 'session.updated') return [{ kind: 'ready' }];
    if (type === 'error') return [{ kind: 'failed', message: answer.error?.message ?? message }];
    if (type === 'input_audio_buffer.speech_started') {
      this.#open += 1;
      return [{ kind: 'speech started', atSeconds: (answer.audio_start_ms ?? 0) / 1000 }];
    }
    if (type === 'input_audio_buffer.speech_stopped') this.#ends.set(item, (answer.audio_end_ms ?? 0) / 1000);
    if (type === `${TRANSCRIPTION}.delta`)
      this.#deltas.set(item, (this.#deltas.get(item) ?? '') + (answer.delta ?? ''));
    if (type === `${TRANSCRIPTION}.failed`) {
      return [{ kind: 'failed', message: answer.error?.message ?? message }, ...this.#closed()];
    }
    if (type !== `${TRANSCRIPTION}.completed`) return [];
    const text = answer.transcript ?? '';
    return [
      {
        ...{ kind: 'final', text, startSeconds: null, endSeconds: null },
        endpointSeconds: this.#ends.get(item) ?? null,
        contradicts: (this.#deltas.get(item) ?? '') !== text,
      },
      ...this.#closed(),
    ];
  }

  #closed(): LiveAnswer[] {
    this.#open -= 1;
    return this.#open === 0 ? [{ kind: 'done' }] : [];
  }
}

/** Of the silence behind speech, a final result's range covers so much. */
const TAIL_SECONDS = 0.3;

class DeepgramProtocol implements LiveProtocol {
  readonly rate = 16_000;
  readonly path: string;
  readonly authorization: string;
  readonly opening: readonly string[] = [];
  readonly closing = JSON.stringify({ type: 'CloseStream' });
  readonly #silenceSeconds: number;
  #coveredTo = 0;

  constructor(key: string, { language, silenceMs, interim }: LiveChoices) {
    this.authorization = `Token ${key}`;
    this.#silenceSeconds = silenceMs / 1000;
    const query = new URLSearchParams({
      ...{ language: normalizeLanguage(language) ?? 'multi', encoding: 'linear16', sample_rate: String(this.rate) },
      ...{ interim_results: String(interim), endpointing: String(silenceMs), vad_events: 'true' },
      punctuate: 'true',
    });
    this.path = `/v1/listen?${query.toString()}`;
  }

  audio(piece: Buffer): Buffer {
    return piece;
  }

  read(message: string): LiveAnswer[] {
    const answer = JSON.parse(message) as ServerMessage;
    if (answer.type === 'Error') return [{ kind: 'failed', message: answer.description ?? message }];
    if (answer.type === 'Metadata') return [{ kind: 'done' }];
    if (answer.type === 'SpeechStarted') return [{ kind: 'speech started', atSeconds: answer.timestamp ?? 0 }];
    if (answer.type !== 'Results') return [];
    const startSeconds = answer.start ?? 0;
    const endSeconds = startSeconds + (answer.duration ?? 0);
    if (answer.is_final !== true) return [{ kind: 'interim', startSeconds, endSeconds }];
    const isRepeated = startSeconds < this.#coveredTo - 0.002;
    this.#coveredTo = Math.max(this.#coveredTo, endSeconds);
    const endpoint = endSeconds - TAIL_SECONDS + this.#silenceSeconds;
    return [
      {
        ...{ kind: 'final', text: answer.channel?.alternatives?.[0]?.transcript ?? '', startSeconds, endSeconds },
        ...{ endpointSeconds: answer.speech_final === true ? endpoint : null, contradicts: isRepeated },
      },
    ];
  }
}
