/**
 * One paid transcription: hold -> transcribe, and tell who speaks -> translate -> settle, or release. Whatever goes wrong, the hold is
 * given back, the idempotency record is forgotten, and the audio is closed and removed before the failure is told. Only who
 * leaves after hearing some of the answer pays for that much.
 */
import { randomBytes } from 'node:crypto';
import { removeFile } from '../remove-file.js';
import type { Diarizer, FileToTranscribe, NoDiarizer, SpeechEngine, WorkOrigin } from '../engine/types.js';
import { VerbatimError } from '../errors.js';
import type { Charge, Hold, Ledger, StoredAnswer } from '../ledger/types.js';
import { fingerprint } from './fingerprint.js';
import { heardIn, type HeardFile } from './heard.js';
import { beginIdempotent } from './idempotent.js';
import { LanguageSupport } from './language-support.js';
import type { LendEngines } from './lent-engines.js';
import type { TranscriptionOptions } from './options.js';
import { offerOf, type Offer } from './offer.js';
import { creditsFor, mostCreditsFor, startedMinutes, type PaidWork, type Prices } from './price.js';
import { makeReadable } from './readable-audio.js';
import { resultOf, resultText, type TranscriptionResult, type Translation } from './result.js';
import { howToHear, spokenOf, type Spoken } from './spoken.js';
import { isLeft, Telling, type Listener } from './telling.js';
import { translationOf } from './translation.js';
import { UnkeyedRequests, type Delivery, type Unkeyed } from './unkeyed.js';
import { warningsOf, type Warning } from './warnings.js';

export interface TranscriptionSettings extends Prices {
  maxAudioSeconds: number;
  /** Requests of one account that are worked on at a time, on all servers of the database. */
  maxInFlight: number;
}

/** What was learned on the way, as far as the request came. */
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
  /** The file is the service's from now on, and gone when `run` is done; before the charge, which only the answer follows. */
  audio: { path: string; sha256: string };
  options: TranscriptionOptions;
  idempotencyKey: string | null;
  /** Without an Idempotency-Key, of a client that may repeat the request unasked. */
  unkeyed?: Unkeyed | undefined;
  /** Told the answer's text while it is made. */
  listener?: Listener | undefined;
  signal: AbortSignal;
}

/** What is worked on, and for whom. */
export type WorkOrder = Pick<TranscriptionRequest, 'requestId' | 'accountId' | 'options' | 'signal'> & {
  audio: { path: string; sha256?: string };
  /** Behind the account's other requests; see FileToTranscribe. */
  background?: boolean;
  telling?: Telling;
};

/** How the engine is to go about the file, beside what the order says. */
type Course = Pick<FileToTranscribe, 'maxSeconds' | 'covers' | 'measured' | 'transcribed' | 'after'>;

/** Finished work: what to charge for it, and what to keep. */
export interface Bill {
  credits: number;
  audioSeconds: number;
  minutes: number;
  uncharged: Omit<TranscriptionResult, keyof Charge>;
  timings: TranscriptionTimings;
}

export interface TranscriptionTimings {
  queueMs: number;
  readMs: number;
  speechMs: number;
  inferenceMs: number;
  translateMs: number;
}

/** A new answer, or the stored one of an earlier request. */
export type TranscriptionAnswer =
  | { replayed: boolean; result: TranscriptionResult; timings: TranscriptionTimings }
  /** The body as version 0.1.0 rendered and stored it. */
  | { replayed: true; body: string; timings: TranscriptionTimings };

export interface Answered {
  answer: TranscriptionAnswer;
  /** To be told how the answer's way ends; null: nobody asks. */
  delivery: Delivery | null;
}

/** What a request finds in the books. */
interface Begun {
  token: string | null;
  stored: StoredAnswer | null;
  delivery: Delivery | null;
}

/** How a request ended, and what was learned of it until then. */
export type TranscriptionOutcome = { facts: TranscriptionFacts } & (Answered | { error: unknown });

interface Draft extends Spoken {
  language: string;
  translation: Translation | null;
  warnings: Warning[];
  work: PaidWork;
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
  lend: LendEngines;
  diarizer: Diarizer | NoDiarizer;
  settings: TranscriptionSettings;
}

/** What one request is answered with. */
interface Means {
  engine: SpeechEngine;
  languages: LanguageSupport;
}

export class TranscriptionService {
  private readonly unkeyed: UnkeyedRequests;
  #offer: { of: SpeechEngine; offer: Offer } | null = null;

  constructor(private readonly deps: TranscriptionDeps) {
    this.unkeyed = new UnkeyedRequests(deps.ledger);
  }

  /** What a request may ask for, and at which prices. */
  get offer(): Offer {
    const { engine, translator, giveBack } = this.deps.lend();
    giveBack();
    if (this.#offer?.of === engine) return this.#offer.offer;
    const { settings, diarizer } = this.deps;
    const offer = offerOf({ engine, settings }, new LanguageSupport(engine, translator, diarizer));
    this.#offer = { of: engine, offer };
    return offer;
  }

  /** The least a request can cost: one started minute. */
  get minimumCredits(): number {
    return creditsFor(this.deps.settings, 0, { translated: false, diarized: false });
  }

  /** Whether a request without an Idempotency-Key may have its answer stored, so that it needs neither credits nor time. */
  mayBeRepeated(accountId: string, unkeyed: { retried: boolean }): Promise<boolean> {
    return this.unkeyed.mayBeRepeated(accountId, unkeyed);
  }

  async run(request: TranscriptionRequest): Promise<TranscriptionOutcome> {
    const facts: TranscriptionFacts = {};
    try {
      return { facts, ...(await this.#with((means) => this.#answer(request, facts, means))) };
    } catch (error) {
      await discardAudio(request);
      return { facts, error };
    }
  }

  /** The same model from the first look at the request to the last. */
  async #with<T>(work: (means: Means) => Promise<T>): Promise<T> {
    const { engine, translator, giveBack } = this.deps.lend();
    try {
      return await work({ engine, languages: new LanguageSupport(engine, translator, this.deps.diarizer) });
    } finally {
      giveBack();
    }
  }

  async #answer(request: TranscriptionRequest, facts: TranscriptionFacts, means: Means): Promise<Answered> {
    means.languages.check(request.options);
    const { token, stored, delivery } = await this.#begin(request);
    try {
      if (stored === null)
        return { answer: await this.#transcribeAndBill(request, facts, { ...means, token }), delivery };
      await discardAudio(request);
      return { answer: replay(stored), delivery };
    } catch (error) {
      // A repeat that waits for this one begins anew: the record goes first.
      try {
        if (token !== null) await this.deps.ledger.abandonIdempotent(token);
      } finally {
        delivery?.lost();
      }
      throw error;
    }
  }

  async #begin(request: TranscriptionRequest): Promise<Begun> {
    const { unkeyed } = request;
    if (unkeyed !== undefined && request.idempotencyKey === null)
      return this.unkeyed.begin({ ...request, unkeyed });
    const token = await this.#beginIdempotent(request);
    const isStored = token !== null && typeof token !== 'string';
    return { token: isStored ? null : token, stored: isStored ? token : null, delivery: null };
  }

  /** The token of a new record, the stored answer, or null when the client sent no Idempotency-Key. */
  async #beginIdempotent(request: TranscriptionRequest): Promise<string | StoredAnswer | null> {
    const { accountId, idempotencyKey: key } = request;
    if (key === null) return null;
    return beginIdempotent(this.deps.ledger, { accountId, key, fingerprint: fingerprint(request) });
  }

  async #transcribeAndBill(
    request: TranscriptionRequest,
    facts: TranscriptionFacts,
    { token, ...means }: Means & { token: string | null },
  ): Promise<TranscriptionAnswer> {
    const { signal, listener } = request;
    const held: { hold?: Promise<Hold> } = {};
    const telling = new Telling(request);
    try {
      const course = {
        maxSeconds: this.deps.settings.maxAudioSeconds,
        covers: await this.#withinBalance(request),
        measured: async (durationSeconds: number) => {
          facts.audioSeconds = durationSeconds;
          signal.throwIfAborted();
          held.hold = this.#hold(request, durationSeconds);
          const { credits } = await held.hold;
          listener?.measured?.(durationSeconds, credits);
        },
        transcribed: (seconds: number) => listener?.transcribed?.(seconds),
      };
      const bill = await this.#work({ ...request, telling }, { course, facts, ...means });
      await discardAudio(request);
      if (held.hold === undefined) throw new Error('The engine answered before it told the duration.');
      return await this.#settle(request, await held.hold, { token, bill });
    } catch (error) {
      // The hold may still be on its way.
      const hold = await held.hold?.catch(() => null);
      const reason: unknown = signal.aborted ? signal.reason : error;
      if (hold) await this.#giveBack(request, hold, { reason, telling, audioSeconds: facts.audioSeconds });
      throw error;
    }
  }

  /** The duration of audio that the account's balance covers, and the most that it can cost. Rejects as run() fails. */
  measure(order: WorkOrder): Promise<{ durationSeconds: number; credits: number }> {
    return this.#with((means) => this.#measure(order, means));
  }

  async #measure(
    order: WorkOrder,
    { engine, languages }: Means,
  ): Promise<{ durationSeconds: number; credits: number }> {
    const { settings } = this.deps;
    const { accountId, audio, options, signal } = order;
    languages.check(options);
    const file = {
      ...{ path: audio.path, accountId, origin: originOf(order), signal },
      maxSeconds: settings.maxAudioSeconds,
      covers: await this.#withinBalance(order),
    };
    await makeReadable(engine, file);
    const durationSeconds = await engine.measureFile(file);
    return { durationSeconds, credits: mostCreditsFor(settings, durationSeconds, options) };
  }

  /** Work in the background on a file of known duration that is paid for; the caller settles the bill. */
  perform(
    order: WorkOrder,
    { durationSeconds, transcribed }: { durationSeconds: number; transcribed: (seconds: number) => void },
  ): Promise<Bill> {
    return this.#with((means) => {
      means.languages.check(order.options);
      const course = { after: { durationSeconds }, transcribed };
      return this.#work({ ...order, background: true }, { course, facts: {}, ...means });
    });
  }

  /** Transcribes and translates: all that is done for an answer between the hold and the charge. */
  async #work(
    order: WorkOrder,
    { course, facts, ...means }: Means & { course: Course; facts: TranscriptionFacts },
  ): Promise<Bill> {
    const { engine, languages } = means;
    const { settings } = this.deps;
    const { accountId, audio, options, signal, background = false } = order;
    const file = { path: audio.path, accountId, origin: originOf(order), signal, background, ...course };
    // What has been measured has been made readable.
    const conversionMs = course.after === undefined ? await makeReadable(engine, file) : 0;
    const language = options.language ?? 'auto';
    const asked = { ...file, language, ...howToHear(options, engine), heard: order.telling?.heard };
    const heard = await heardIn(asked, options, { engine, languages });
    const { durationSeconds, timings: transcribing } = heard.transcript;
    transcribing.readMs += conversionMs;
    const { queueMs, inferenceMs } = transcribing;
    Object.assign(facts, { queueMs, inferenceMs });
    const { timings, work, ...spoken } = await this.#translate(order, heard, means);
    const id = newTranscriptionId();
    return {
      credits: creditsFor(settings, durationSeconds, work),
      audioSeconds: durationSeconds,
      minutes: startedMinutes(durationSeconds),
      uncharged: { id, durationSeconds, ...spoken },
      timings,
    };
  }

  #hold(
    { accountId, keyId, requestId, options }: TranscriptionRequest,
    durationSeconds: number,
  ): Promise<Hold> {
    const { ledger, settings } = this.deps;
    const credits = mostCreditsFor(settings, durationSeconds, options);
    return ledger.hold({ accountId, keyId, requestId, credits, mostInFlight: settings.maxInFlight });
  }

  /** Of a request that failed: all, but for what was delivered to a client that left. */
  async #giveBack(
    request: TranscriptionRequest,
    hold: Hold,
    { reason, ...told }: { reason: unknown; telling: Telling; audioSeconds: number | undefined },
  ): Promise<void> {
    try {
      if (isLeft(reason)) await this.#settleDelivered(request, hold, told);
    } finally {
      await this.deps.ledger.release(hold.id);
    }
  }

  async #settleDelivered(
    { endpoint, requestId, listener }: TranscriptionRequest,
    hold: Hold,
    { telling, audioSeconds = 0 }: { telling: Telling; audioSeconds: number | undefined },
  ): Promise<void> {
    const delivered = listener?.deliveredSeconds ?? null;
    if (delivered === null) return;
    const seconds = Math.min(delivered, audioSeconds);
    // Who speaks is told in the end only.
    const work = { translated: telling.isTranslated, diarized: false };
    await this.deps.ledger.settle(hold.id, {
      credits: Math.min(hold.credits, creditsFor(this.deps.settings, seconds, work)),
      audioSeconds: seconds,
      minutes: startedMinutes(seconds),
      ...{ endpoint, requestId, transcriptionId: newTranscriptionId(), language: telling.language },
      ...{ delivered: true, result: null },
    });
  }

  /**
   * Refuses audio as soon as that much of it is counted that the account could not pay for it: nobody's files are
   * measured on credit. The hold looks again.
   */
  async #withinBalance({
    accountId,
    options,
  }: Pick<WorkOrder, 'accountId' | 'options'>): Promise<(countedSeconds: number) => void> {
    const { balance } = await this.deps.ledger.balance(accountId);
    return (countedSeconds) => {
      const credits = mostCreditsFor(this.deps.settings, countedSeconds, options);
      if (credits <= balance) return;
      const message = `This request costs at least ${credits} credits; the account has ${balance}.`;
      throw new VerbatimError('insufficient_credits', message);
    };
  }

  async #translate(
    order: WorkOrder,
    { transcript, timeline }: HeardFile,
    { engine, languages }: Means,
  ): Promise<Draft> {
    const { accountId, audio, options, signal, telling, background = false } = order;
    const timings = { ...transcript.timings, translateMs: 0 };
    const warnings = warningsOf(transcript, engine);
    const context = { heard: transcript.segments, timeline };
    const said = await spokenOf(transcript, options, context);
    const diarized = said.segments?.some(({ speaker }) => speaker !== undefined) === true;
    const spoken = { language: transcript.language, ...said, warnings, timings };
    const to = options.translateTo;
    if (to === null) return { ...spoken, translation: null, work: { translated: false, diarized } };
    const startedAt = performance.now();
    const whose = { accountId, origin: originOf(order), signal, background };
    const file = { path: audio.path, ...whose, ...howToHear(options, engine) };
    const { translation, isTranslated } = await translationOf(
      transcript,
      { to, file, telling },
      { engine, languages },
    );
    if (isTranslated) timings.translateMs = performance.now() - startedAt;
    const { text, segments, described } =
      translation === transcript ? said : await spokenOf(translation, options, context);
    const work = { translated: isTranslated, diarized };
    return { ...spoken, translation: { language: to, text, segments, described }, work };
  }

  async #settle(
    { endpoint, requestId, signal }: TranscriptionRequest,
    hold: Hold,
    { token, bill }: { token: string | null; bill: Bill },
  ): Promise<TranscriptionAnswer> {
    const { credits, audioSeconds, minutes, uncharged, timings } = bill;
    // What nobody can ask for again is not kept.
    const result = token === null ? null : await resultText(uncharged);
    // The last look before money moves: a client that left or a key that was revoked is not charged.
    signal.throwIfAborted();
    const charge = await this.deps.ledger.settle(hold.id, {
      ...{ credits, audioSeconds, minutes, endpoint, requestId },
      ...(token === null ? {} : { idempotencyToken: token }),
      ...{ transcriptionId: uncharged.id, language: uncharged.language },
      result,
    });
    return { replayed: false, result: { ...uncharged, ...charge }, timings };
  }
}

function originOf({ requestId, audio }: Pick<WorkOrder, 'requestId' | 'audio'>): WorkOrigin {
  return { requestId, sha256: audio.sha256 ?? null };
}

function newTranscriptionId(): string {
  return `tr_${randomBytes(16).toString('base64url')}`;
}

function replay(stored: StoredAnswer): TranscriptionAnswer {
  const replayed = { replayed: true as const, timings: NO_TIMINGS };
  if (stored.kind === 'body') return { ...replayed, body: stored.body };
  if (stored.kind === 'job') throw new Error('A job is answered under its own path.');
  return { ...replayed, result: resultOf(stored.result, stored.charge) };
}

function discardAudio({ audio }: TranscriptionRequest): Promise<void> {
  return removeFile(audio.path);
}
