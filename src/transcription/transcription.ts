/**
 * One paid transcription: measure -> hold -> work -> settle, or release. After any failure, the hold is released, the
 * idempotency record is abandoned, and the audio is removed; then the failure is reported. A client that leaves after
 * it received a part of the answer pays for that part.
 */
import { removeFile } from '../remove-file.js';
import type { Backlog } from '../engine/backlog.js';
import type { Diarizer, EngineInfo, NoDiarizer, TranscriptTimings, WorkOrigin } from '../engine/types.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StoredAnswer } from '../ledger/types.js';
import { TranscriptionBilling, type BillingSettings } from './billing.js';
import type { AcquireEngines, EngineLease } from './engine-lease.js';
import { RequestIdempotency, type BegunRequest } from './idempotency.js';
import { discardAudio, inPlace, keepOne } from './converted-file.js';
import { keepIfPaid, prepareKeeping, workOptions, type KeepableBill } from './keep-behind-answer.js';
import type { KeepOrder, TranscriptKeeper } from './keep.js';
import { LanguageSupport } from './language-support.js';
import { offerOf, type Offer } from './offer.js';
import type { TranscriptionOptions } from './options.js';
import { resultOf, type TranscriptionResult } from './result.js';
import { isClientGone, ResultStream, type StreamListener } from './result-stream.js';
import type { Delivery, Unkeyed } from './unkeyed.js';
import {
  convertedPath,
  measureAudio,
  rereadAudio,
  transcribeAudio,
  type MeasuredAudio,
  type WorkTimings,
} from './work.js';

export interface TranscriptionSettings extends BillingSettings {
  maxAudioSeconds: number;
}

/** What is known about the request, as far as it came. */
export interface TranscriptionFacts {
  /** The model that works on it, or would have. */
  model?: string;
  audioSeconds?: number;
  queueMs?: number;
  inferenceMs?: number;
}

export interface TranscriptionRequest {
  requestId: string;
  accountId: string;
  keyId: string;
  /** The path that usage is recorded under. */
  endpoint: string;
  /**
   * The service owns the file from now on. It is removed before `run` is done: before the charge, which only the answer
   * follows. A recording that is to be kept is moved or removed behind the charge.
   */
  audio: { path: string; sha256: string; head?: string; fileName?: string | null };
  options: TranscriptionOptions;
  idempotencyKey: string | null;
  /** For a request without an Idempotency-Key whose client may repeat it automatically. */
  unkeyed?: Unkeyed | undefined;
  /** Receives the answer's text as it is produced. */
  listener?: StreamListener | undefined;
  /** How the transcript is kept behind its answer; absent or null: not at all. */
  keep?: KeepOrder | null;
  /** What the request itself says about it: a part of what it asks for. */
  keepAsked?: boolean | null;
  signal: AbortSignal;
}

/** The work, and the account it is for. */
export type TranscriptionOrder = Pick<
  TranscriptionRequest,
  'requestId' | 'accountId' | 'options' | 'keep' | 'signal'
> & {
  audio: { path: string; sha256?: string; head?: string };
};

/** A new answer, or the stored one of an earlier request. */
export type TranscriptionAnswer =
  | { replayed: boolean; result: TranscriptionResult; timings: WorkTimings }
  /** The body as version 0.1.0 rendered and stored it. */
  | { replayed: true; body: string; timings: WorkTimings };

/** The name of the speech model. null: the answer was stored by a version that did not store the name. */
export function modelOf(answer: TranscriptionAnswer): string | null {
  return 'result' in answer ? answer.result.model : null;
}

export interface Answered {
  answer: TranscriptionAnswer;
  /** Is notified of how the delivery of the answer ends. null: not needed. */
  delivery: Delivery | null;
}

/** How a request ended, and what is known about it. */
export type TranscriptionOutcome = { facts: TranscriptionFacts } & (Answered | { error: unknown });

const NO_TIMINGS: WorkTimings = Object.freeze({
  queueMs: 0,
  readMs: 0,
  speechMs: 0,
  inferenceMs: 0,
  translateMs: 0,
});

export interface TranscriptionDeps {
  ledger: Ledger;
  acquire: AcquireEngines;
  backlog: Pick<Backlog, 'admit' | 'readmit'>;
  diarizer: Diarizer | NoDiarizer;
  keeper: TranscriptKeeper;
  settings: TranscriptionSettings;
}

/** The models of a request, the same from its first check to its end. */
interface Engines {
  lease: EngineLease;
  languages: LanguageSupport;
}

interface WorkParts {
  audio: MeasuredAudio;
  origin: WorkOrigin;
  stream: ResultStream;
  engines: Engines;
  facts: TranscriptionFacts;
}

export class TranscriptionService {
  readonly #billing: TranscriptionBilling;
  readonly #idempotency: RequestIdempotency;
  #offer: { of: EngineInfo; offer: Offer } | null = null;

  constructor(private readonly deps: TranscriptionDeps) {
    this.#billing = new TranscriptionBilling(deps.ledger, deps.settings);
    this.#idempotency = new RequestIdempotency(deps.ledger);
  }

  /** What a request may ask for, and at which prices. */
  get offer(): Offer {
    const { info, translator, release } = this.deps.acquire(null);
    release();
    if (this.#offer?.of === info) return this.#offer.offer;
    const { settings, diarizer } = this.deps;
    const offer = offerOf({ info, settings }, new LanguageSupport(info, translator, diarizer));
    this.#offer = { of: info, offer };
    return offer;
  }

  /** The least a request can cost: one started minute. */
  get minimumCredits(): number {
    return this.#billing.minimumCredits;
  }

  /** Whether a request without an Idempotency-Key may have a stored answer, which needs neither credits nor time. */
  mayBeRepeated(accountId: string, unkeyed: { retried: boolean }): Promise<boolean> {
    return this.#idempotency.mayBeRepeated(accountId, unkeyed);
  }

  async run(request: TranscriptionRequest): Promise<TranscriptionOutcome> {
    const facts: TranscriptionFacts = {};
    try {
      return { facts, ...(await this.#answer(request, facts)) };
    } catch (error) {
      await discardAudio(request.audio);
      return { facts, error };
    }
  }

  /**
   * Resolves to the duration, if the account's balance covers it, and the most that the audio can cost. Keeps the
   * converted audio in place of the file, unless it is much larger, or the recording is to be kept as it came; then
   * perform() converts the file again. Rejects as run() fails.
   */
  measure(order: TranscriptionOrder): Promise<{ durationSeconds: number; credits: number }> {
    return this.#with(order.options, async ({ lease, languages }) => {
      languages.check(order.options);
      const { path: read, seconds } = await this.#measure(order, originOf(order), lease);
      await keepOne(order.audio.path, read, { original: order.keep?.keepsAudio === true });
      return { durationSeconds: seconds, credits: this.#billing.mostCredits(seconds, order.options) };
    });
  }

  /** Works in the background on a file that was measured and paid for. The caller settles the bill. */
  perform(
    order: TranscriptionOrder,
    { durationSeconds, onProgress }: { durationSeconds: number; onProgress: (seconds: number) => void },
  ): Promise<KeepableBill> {
    return this.#with(order.options, async ({ lease, languages }) => {
      const { accountId, audio, options, signal } = order;
      languages.check(options);
      const origin = originOf(order, true);
      const place = this.deps.backlog.readmit({ accountId, audioSeconds: durationSeconds, background: true });
      const { path } = audio;
      const { maxAudioSeconds: maxSeconds } = this.deps.settings;
      const file = { path, to: convertedPath(path), accountId, origin, signal, maxSeconds };
      let read = path;
      try {
        const reread = await rereadAudio(lease.reader, file, durationSeconds);
        read = reread.path;
        const work = {
          ...{ accountId, signal, origin, background: true, audio: reread },
          options: workOptions(order),
          onProgress: (seconds: number) => {
            place.setDone(seconds);
            onProgress(seconds);
          },
        };
        const engine = await lease.speech({ accountId, signal });
        const bill = this.#billing.bill(await transcribeAudio(work, { engine, languages }));
        return await prepareKeeping(this.deps.keeper, order, bill);
      } finally {
        place.release();
        if (read !== path) await removeFile(read);
      }
    });
  }

  /** Acquires the engines for `work`. Rejects with `unsupported_model`. */
  async #with<T>({ model }: TranscriptionOptions, work: (engines: Engines) => Promise<T>): Promise<T> {
    const lease = this.deps.acquire(model);
    const { info, translator } = lease;
    try {
      return await work({ lease, languages: new LanguageSupport(info, translator, this.deps.diarizer) });
    } finally {
      lease.release();
    }
  }

  /** A stored answer needs no model: the models may have changed since it was made. */
  async #answer(request: TranscriptionRequest, facts: TranscriptionFacts): Promise<Answered> {
    const begun = await this.#idempotency.begin(request);
    const { stored, delivery } = begun;
    try {
      if (stored === null) return { answer: await this.#transcribe(request, facts, begun), delivery };
      await discardAudio(request.audio);
      return { answer: replay(stored), delivery };
    } catch (error) {
      await this.#idempotency.abandon(begun);
      throw error;
    }
  }

  #transcribe(
    request: TranscriptionRequest,
    facts: TranscriptionFacts,
    begun: BegunRequest,
  ): Promise<TranscriptionAnswer> {
    return this.#with(request.options, (engines) => {
      engines.languages.check(request.options);
      return this.#measureAndBill(request, { facts, begun, engines });
    });
  }

  async #measureAndBill(
    request: TranscriptionRequest,
    { facts, begun, engines }: { facts: TranscriptionFacts; begun: BegunRequest; engines: Engines },
  ): Promise<TranscriptionAnswer> {
    const { signal, listener } = request;
    const origin = originOf(request);
    const model = engines.lease.info.modelName;
    facts.model = model;
    listener?.onModel?.(model);
    const measured = await this.#measure(request, origin, engines.lease);
    const audio = request.keep?.keepsAudio === true ? measured : await inPlace(measured, request.audio.path);
    facts.audioSeconds = audio.seconds;
    signal.throwIfAborted();
    const hold = await this.#billing.hold(request, audio.seconds);
    const stream = new ResultStream(request);
    try {
      signal.throwIfAborted();
      listener?.onMeasured?.(audio.seconds, hold.credits);
      const bill = await this.#work(request, { audio, origin, stream, engines, facts });
      if (!bill.keepsAudio) await discardAudio(request.audio);
      const charged = await this.#billing.settle(request, hold, { token: begun.token, bill });
      const result = await keepIfPaid(charged, bill);
      // It is paid for: a file that cannot be removed now goes with its directory.
      if (bill.keepsAudio) await discardAudio(request.audio).catch(() => undefined);
      return { replayed: false, result, timings: bill.timings };
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error;
      const delivered = isClientGone(reason) ? { listener, stream, model, audioSeconds: audio.seconds } : null;
      await this.#billing.release(request, hold, delivered);
      throw error;
    }
  }

  /** Measures the audio, within the allowed length and the account's balance. */
  async #measure(order: TranscriptionOrder, origin: WorkOrigin, { reader }: EngineLease): Promise<MeasuredAudio> {
    const { accountId, audio, signal } = order;
    const { path, head } = audio;
    const { maxAudioSeconds: maxSeconds } = this.deps.settings;
    return this.#billing.withinBalance(order, (payableSeconds) =>
      measureAudio(reader, {
        ...{ path, head, accountId, origin, signal, maxSeconds, payableSeconds },
        to: convertedPath(path),
      }),
    );
  }

  /** Counts in the backlog while it runs. Rejects with `overloaded` if the backlog is full. */
  async #work(request: TranscriptionRequest, parts: WorkParts): Promise<KeepableBill> {
    const { accountId, signal } = request;
    const { audio, origin, stream, engines, facts } = parts;
    const place = this.deps.backlog.admit({ accountId, audioSeconds: audio.seconds });
    const onProgress = (seconds: number): void => place.setDone(seconds);
    const onTranscribed = ({ queueMs, inferenceMs }: TranscriptTimings): void =>
      void Object.assign(facts, { queueMs, inferenceMs });
    try {
      const { lease, languages } = engines;
      const options = workOptions(request);
      const order = { audio, accountId, origin, options, signal, stream, onProgress, onTranscribed };
      const engine = await lease.speech({ accountId, signal });
      const bill = this.#billing.bill(await transcribeAudio(order, { engine, languages }));
      return await prepareKeeping(this.deps.keeper, request, bill);
    } finally {
      place.release();
    }
  }
}

function originOf({ requestId, accountId, audio }: TranscriptionOrder, background = false): WorkOrigin {
  return { requestId, accountId, background, sha256: audio.sha256 ?? null };
}

function replay(stored: StoredAnswer): TranscriptionAnswer {
  const replayed = { replayed: true as const, timings: NO_TIMINGS };
  if (stored.kind === 'body') return { ...replayed, body: stored.body };
  if (stored.kind === 'job') throw new Error('A job is answered under its own path.');
  return { ...replayed, result: resultOf(stored.result, stored.charge) };
}
