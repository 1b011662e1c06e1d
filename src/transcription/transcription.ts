/**
 * One paid transcription: hold -> transcribe -> translate -> settle, or release. Whatever goes wrong, the hold is
 * given back, the idempotency record is forgotten and the audio is closed before the error leaves.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { SpeechEngine, Transcript } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import type { Ledger } from '../ledger/types.js';
import { LanguageSupport, type TextTranslator } from './language-support.js';
import { withoutPunctuation } from './punctuation.js';

export interface TranscriptionSettings {
  maxAudioSeconds: number;
  creditsPerMinute: number;
  translationCreditsPerMinute: number;
}

/** What the client asked for; language codes are ISO 639-1 already. */
export interface TranscriptionOptions {
  /** null: detect. */
  language: string | null;
  translateTo: string | null;
  punctuate: boolean;
  diarize: boolean;
}

/** What is learned on the way, and worth telling of a request that fails later. */
export interface TranscriptionFacts {
  audioSeconds?: number;
  queueMs?: number;
  inferenceMs?: number;
}

export interface TranscriptionRequest {
  requestId: string;
  accountId: string;
  keyId: string;
  /** The path that usage is booked under. */
  endpoint: string;
  audio: { path: string; sha256: string };
  options: TranscriptionOptions;
  idempotencyKey: string | null;
  signal: AbortSignal;
  learned: (facts: TranscriptionFacts) => void;
  /** Called when the audio has served: its file goes before the charge, so that only the answer follows that. */
  discardAudio: () => Promise<void>;
  /** The response body; it is stored with the charge, so that a repeat gets the same bytes. */
  render: (result: TranscriptionResult) => string;
}

export interface TranscriptionResult {
  id: string;
  durationSeconds: number;
  language: string;
  text: string;
  translation: { language: string; text: string } | null;
  creditsUsed: number;
  creditsRemaining: number;
}

export interface TranscriptionTimings {
  queueMs: number;
  readMs: number;
  speechMs: number;
  inferenceMs: number;
  translateMs: number;
}

export interface TranscriptionAnswer {
  /** null for a stored answer. */
  id: string | null;
  body: string;
  replayed: boolean;
  timings: TranscriptionTimings;
}

interface Draft {
  language: string;
  text: string;
  translation: { language: string; text: string } | null;
  /** Whether a translation model ran, which is what the surcharge is for. */
  translated: boolean;
  timings: TranscriptionTimings;
}

const NO_TIMINGS: TranscriptionTimings = Object.freeze({
  queueMs: 0,
  readMs: 0,
  speechMs: 0,
  inferenceMs: 0,
  translateMs: 0,
});

export interface TranscriptionDeps {
  ledger: Ledger;
  engine: SpeechEngine;
  translator?: TextTranslator | undefined;
  settings: TranscriptionSettings;
}

export class TranscriptionService {
  private readonly languages: LanguageSupport;

  constructor(private readonly deps: TranscriptionDeps) {
    this.languages = new LanguageSupport(deps.engine, deps.translator);
  }

  /** The least a request can cost: one started minute. */
  get minimumCredits(): number {
    return this.deps.settings.creditsPerMinute;
  }

  async run(request: TranscriptionRequest): Promise<TranscriptionAnswer> {
    this.languages.check(request.options);
    const token = this.#beginIdempotent(request);
    if (token !== null && typeof token !== 'string') return token;
    try {
      return await this.#transcribeAndBill(request, token);
    } catch (error) {
      if (token !== null) this.deps.ledger.abandonIdempotent(token);
      throw error;
    }
  }

  /** The token of a new record, the stored answer, or null when the client sent no Idempotency-Key. */
  #beginIdempotent(request: TranscriptionRequest): string | TranscriptionAnswer | null {
    const { accountId, idempotencyKey: key } = request;
    if (key === null) return null;
    const begun = this.deps.ledger.beginIdempotent({ accountId, key, fingerprint: fingerprint(request) });
    if (begun.state === 'new') return begun.token;
    if (begun.state === 'replay') {
      return { id: null, body: begun.response.body, replayed: true, timings: NO_TIMINGS };
    }
    const message =
      begun.reason === 'still_running'
        ? 'The first request with this Idempotency-Key is still running.'
        : 'This Idempotency-Key was used for a different request.';
    throw new VerbatimError('idempotency_conflict', message, { param: 'Idempotency-Key' });
  }

  async #transcribeAndBill(
    request: TranscriptionRequest,
    token: string | null,
  ): Promise<TranscriptionAnswer> {
    const { engine, ledger, settings } = this.deps;
    const { accountId, audio, options, signal } = request;
    const hold: { id: string | null } = { id: null };
    try {
      const transcript = await engine.transcribeFile({
        ...{ path: audio.path, accountId, signal },
        language: options.language ?? 'auto',
        maxSeconds: settings.maxAudioSeconds,
        measured: (durationSeconds) => {
          request.learned({ audioSeconds: durationSeconds });
          signal.throwIfAborted();
          hold.id = this.#hold(request, durationSeconds);
        },
      });
      const { queueMs, inferenceMs } = transcript.timings;
      request.learned({ queueMs, inferenceMs });
      const draft = await this.#translate(request, transcript);
      await request.discardAudio();
      return this.#settle(request, hold.id, token, transcript.durationSeconds, draft);
    } catch (error) {
      if (hold.id !== null) ledger.release(hold.id);
      throw error;
    }
  }

  /** As much as the request can cost at most. */
  #hold({ accountId, keyId, requestId, options }: TranscriptionRequest, durationSeconds: number): string {
    const { translateTo, language } = options;
    const mayTranslate = translateTo !== null && translateTo !== language;
    const credits = this.#credits(durationSeconds, mayTranslate);
    return this.deps.ledger.hold({ accountId, keyId, requestId, credits }).id;
  }

  async #translate(request: TranscriptionRequest, transcript: Transcript): Promise<Draft> {
    const { options } = request;
    const plain = (text: string, language: string): string =>
      options.punctuate ? text : withoutPunctuation(text, language);
    const { language } = transcript;
    const text = plain(transcript.text, language);
    const timings = { ...transcript.timings, translateMs: 0 };
    const to = options.translateTo;
    if (to === null) return { language, text, translation: null, translated: false, timings };
    if (to === language) {
      return { language, text, translation: { language, text }, translated: false, timings };
    }
    const translator = this.languages.translatorFor(language, to);
    if (transcript.text.trim() === '') {
      return { language, text, translation: { language: to, text: '' }, translated: false, timings };
    }
    const startedAt = performance.now();
    const translated =
      translator === 'speech model'
        ? await this.#translateSpeech(request, transcript)
        : await this.#translateText(translator, request, transcript, to);
    timings.translateMs = performance.now() - startedAt;
    const translation = { language: to, text: plain(translated, to) };
    return { language, text, translation, translated: true, timings };
  }

  #translateText(
    translator: TextTranslator,
    { accountId, signal }: TranscriptionRequest,
    transcript: Transcript,
    to: string,
  ): Promise<string> {
    return translator.translate({ accountId, transcript, to, signal });
  }

  /** A second pass over the audio, with Whisper's translate task. */
  async #translateSpeech(
    { accountId, audio: { path }, signal }: TranscriptionRequest,
    transcript: Transcript,
  ): Promise<string> {
    const { language } = transcript;
    const pass = { path, accountId, language, task: 'translate', signal, after: transcript } as const;
    return (await this.deps.engine.transcribeFile(pass)).text;
  }

  #settle(
    request: TranscriptionRequest,
    holdId: string | null,
    token: string | null,
    durationSeconds: number,
    draft: Draft,
  ): TranscriptionAnswer {
    // The last look before money moves: a client that left or a key that was revoked is not charged.
    request.signal.throwIfAborted();
    if (holdId === null) throw new Error('The engine answered before it told the duration.');
    const { timings, translated, ...spoken } = draft;
    const credits = this.#credits(durationSeconds, translated);
    const id = `tr_${randomBytes(16).toString('base64url')}`;
    const { body } = this.deps.ledger.settle(holdId, {
      credits,
      endpoint: request.endpoint,
      audioSeconds: durationSeconds,
      minutes: startedMinutes(durationSeconds),
      requestId: request.requestId,
      ...(token === null ? {} : { idempotencyToken: token }),
      response: (creditsRemaining) =>
        request.render({ id, durationSeconds, ...spoken, creditsUsed: credits, creditsRemaining }),
    });
    return { id, body, replayed: false, timings };
  }

  #credits(durationSeconds: number, translated: boolean): number {
    const { creditsPerMinute, translationCreditsPerMinute } = this.deps.settings;
    const rate = creditsPerMinute + (translated ? translationCreditsPerMinute : 0);
    return startedMinutes(durationSeconds) * rate;
  }
}

export function startedMinutes(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / 60));
}

/** Two requests are the same when their normalised fields and the audio's bytes are. */
function fingerprint({ endpoint, options, audio }: TranscriptionRequest): string {
  const { language, translateTo, punctuate, diarize } = options;
  const whole = JSON.stringify([endpoint, language, translateTo, punctuate, diarize, audio.sha256]);
  return createHash('sha256').update(whole).digest('hex');
}
