/** The money of a transcription: held before the work, settled for the work that was done, released for the rest. */
import { randomBytes } from 'node:crypto';
import { VerbatimError } from '../errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Charge, Hold } from '../ledger/types.js';
import type { TranscriptionOptions } from './options.js';
import { creditsFor, mostCreditsFor, payableSecondsOf, startedMinutes, type Prices } from './price.js';
import { resultText, type TranscriptionResult } from './result.js';
import type { ResultStream, StreamListener } from './result-stream.js';
import type { FinishedWork, WorkTimings } from './work.js';

export interface BillingSettings extends Prices {
  /** Requests of one account that are worked on at a time, on all servers of the database. */
  maxInFlight: number;
}

/** The account that pays, and the fields of its usage row. */
export interface Payer {
  requestId: string;
  accountId: string;
  keyId: string;
  /** The path of the request. */
  endpoint: string;
  options: TranscriptionOptions;
  audio: { fileName?: string | null };
}

/** Finished work: what to charge for it, and what to keep. */
export interface Bill {
  credits: number;
  audioSeconds: number;
  minutes: number;
  uncharged: UnchargedResult;
  timings: WorkTimings;
}

/** A result before its credits are charged. */
export type UnchargedResult = Omit<TranscriptionResult, keyof Charge>;

/** How much a client has received of an answer that failed. */
export interface Delivered {
  /** That made it. */
  model: string;
  listener: StreamListener | undefined;
  stream: ResultStream;
  audioSeconds: number;
}

export class TranscriptionBilling {
  constructor(
    private readonly ledger: Ledger,
    private readonly settings: BillingSettings,
  ) {}

  /** The least a request can cost: one started minute. */
  get minimumCredits(): number {
    return creditsFor(this.settings, 0, { translated: false, diarized: false });
  }

  /**
   * Runs work on audio within the seconds that the balance covers (undefined: any): nobody's files are measured on
   * credit. The hold looks again. Rejects with `insufficient_credits`.
   */
  async withinBalance<T>(
    { accountId, options }: Pick<Payer, 'accountId' | 'options'>,
    work: (payableSeconds: number | undefined) => Promise<T>,
  ): Promise<T> {
    const { balance } = await this.ledger.credits.balance(accountId);
    const payableSeconds = payableSecondsOf(this.settings, balance, options);
    if (payableSeconds === 0) {
      const credits = mostCreditsFor(this.settings, 0, options);
      throw insufficient(`This request costs at least ${credits} credits; the account has ${balance}.`);
    }
    try {
      return await work(payableSeconds);
    } catch (error) {
      if (!(error instanceof VerbatimError && error.code === 'insufficient_credits')) throw error;
      const minutes = (payableSeconds ?? 0) / 60;
      const pays = balance === 1 ? '1 credit pays' : `${balance} credits pay`;
      throw insufficient(`The audio is longer than the ${minutes} min that the account's ${pays} for.`);
    }
  }

  /** The most that a request can cost. */
  mostCredits(seconds: number, options: TranscriptionOptions): number {
    return mostCreditsFor(this.settings, seconds, options);
  }

  hold({ accountId, keyId, requestId, options, audio }: Payer, seconds: number): Promise<Hold> {
    const credits = this.mostCredits(seconds, options);
    const { maxInFlight: mostInFlight } = this.settings;
    const { fileName = null } = audio;
    return this.ledger.holds.place({ accountId, keyId, requestId, credits, mostInFlight, fileName });
  }

  bill(work: FinishedWork): Bill {
    const { text, segments, words, described, language, durationSeconds, translation, warnings, timings } = work;
    const { extras, nothingRecognised, model } = work;
    return {
      credits: nothingRecognised ? 0 : creditsFor(this.settings, durationSeconds, extras),
      audioSeconds: durationSeconds,
      minutes: nothingRecognised ? 0 : startedMinutes(durationSeconds),
      uncharged: {
        ...{ id: newTranscriptionId(), durationSeconds, language, text, segments, words, described },
        ...{ translation, warnings, model },
      },
      timings,
    };
  }

  /** The answer is stored under `token`, in the same transaction; null: it is not. */
  async settle(
    { endpoint, requestId, signal }: Payer & { signal: AbortSignal },
    hold: Hold,
    { token, bill }: { token: string | null; bill: Bill },
  ): Promise<TranscriptionResult> {
    const { credits, audioSeconds, minutes, uncharged } = bill;
    // What nobody can ask for again is not kept.
    const result = token === null ? null : await resultText(uncharged);
    // The last look before money moves: a client that left or a key that was revoked is not charged.
    signal.throwIfAborted();
    const charge = await this.ledger.holds.settle(hold.id, {
      ...{ credits, audioSeconds, minutes, endpoint, requestId },
      ...(token === null ? {} : { idempotencyToken: token }),
      ...{ transcriptionId: uncharged.id, language: uncharged.language, model: uncharged.model },
      result,
    });
    return { ...uncharged, ...charge };
  }

  /**
   * Releases a hold, except for seconds that were delivered to a client that left. `delivered`: null where they cost
   * nothing.
   */
  async release(payer: Payer, hold: Hold, delivered: Delivered | null): Promise<void> {
    try {
      if (delivered !== null) await this.#settleDelivered(payer, hold, delivered);
    } finally {
      await this.ledger.holds.release(hold.id);
    }
  }

  async #settleDelivered(
    { endpoint, requestId }: Payer,
    hold: Hold,
    { listener, stream, model, audioSeconds }: Delivered,
  ): Promise<void> {
    const delivered = listener?.deliveredSeconds ?? null;
    if (delivered === null) return;
    const seconds = Math.min(delivered, audioSeconds);
    // Speakers are only known at the end.
    const extras = { translated: stream.isTranslated, diarized: false };
    await this.ledger.holds.settle(hold.id, {
      credits: Math.min(hold.credits, creditsFor(this.settings, seconds, extras)),
      audioSeconds: seconds,
      minutes: startedMinutes(seconds),
      ...{ endpoint, requestId, transcriptionId: newTranscriptionId(), language: stream.language, model },
      ...{ delivered: true, result: null },
    });
  }
}

function insufficient(message: string): VerbatimError {
  return new VerbatimError('insufficient_credits', message);
}

export function newTranscriptionId(): string {
  return `tr_${randomBytes(16).toString('base64url')}`;
}
