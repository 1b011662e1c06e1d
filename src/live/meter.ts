/** The money of a live session: every started minute of received audio is charged when its first sample arrives. */
import { randomBytes } from 'node:crypto';
import type { Ledger } from '../ledger/ledger.js';
import { creditsFor, type PaidWork, type Prices } from '../transcription/price.js';

/** Whose usage rows, and what they say. */
export interface LivePayer {
  accountId: string;
  keyId: string;
  requestId: string;
  /** The path of the protocol. */
  endpoint: string;
  /** The name of the speech model. */
  model: string;
  /** The language that was asked for; null: it is detected. */
  language: string | null;
  /** What has a surcharge. */
  extras: PaidWork;
}

const MINUTE_SECONDS = 60;
/** ISO 639: undetermined. */
const UNKNOWN_LANGUAGE = 'und';

export class LiveMeter {
  #minutes = 0;

  constructor(
    private readonly ledger: Pick<Ledger, 'holds'>,
    private readonly prices: Prices,
    private readonly payer: LivePayer,
  ) {}

  /** Started minutes that were charged. */
  get minutes(): number {
    return this.#minutes;
  }

  /** Seconds of audio that are paid for. */
  get paidSeconds(): number {
    return this.#minutes * MINUTE_SECONDS;
  }

  /** Credits of a started minute. */
  get creditsPerMinute(): number {
    return creditsFor(this.prices, MINUTE_SECONDS, this.payer.extras);
  }

  /** Charges one more started minute, before work on it. Rejects with `insufficient_credits` or `invalid_api_key`. */
  async payMinute(): Promise<void> {
    const { accountId, keyId, requestId, endpoint, model, language } = this.payer;
    const credits = this.creditsPerMinute;
    const hold = await this.ledger.holds.place({ accountId, keyId, requestId, credits });
    try {
      await this.ledger.holds.settle(hold.id, {
        ...{ credits, endpoint, requestId, model, audioSeconds: MINUTE_SECONDS, minutes: 1, result: null },
        transcriptionId: `tr_${randomBytes(16).toString('base64url')}`,
        language: language ?? UNKNOWN_LANGUAGE,
      });
    } catch (error) {
      await this.ledger.holds.release(hold.id);
      throw error;
    }
    this.#minutes += 1;
  }
}
