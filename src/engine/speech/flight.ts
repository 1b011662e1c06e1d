import type { WindowInFlight } from '../binding.js';
import { leavesSlotInDoubt } from '../native-errors.js';
import type { FinishedWindow, QueuedRequest } from './request-queue.js';

/**
 * Where a window is: it waits for an encoder, is in the hands of one, waits until there is a batch again, or is in the
 * batch.
 */
export type FlightPlace = 'waiting' | 'encoding' | 'joining' | 'decoding';

/** A window that was begun, until it has left encoder and batch for good. */
export class Flight {
  place: FlightPlace = 'waiting';
  /** Set when its request is aborted. */
  abortReason: unknown = null;
  isAborted = false;
  /** Units that went to windows begun after it while it waited. */
  passedOver = 0;
  /** Its share of the batch's time. */
  decodeMs = 0;
  /** The lanes' time that it has used, that of lanes that helped included. */
  laneMs = 0;
  readonly finished: Promise<FinishedWindow>;
  private resolve!: (window: FinishedWindow) => void;
  private reject!: (reason: unknown) => void;

  constructor(
    private readonly request: QueuedRequest,
    readonly window: WindowInFlight,
  ) {
    this.finished = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get accountId(): string {
    return this.request.accountId;
  }

  /** Seconds of the request's audio that is not begun. */
  get leftSeconds(): number {
    return this.request.costLeft;
  }

  /** Ends it with the window's result; false: that leaves the encoder or batch in doubt. */
  finish(): boolean {
    try {
      const result = this.window.result();
      // The addon's is the time of all steps that it was in, beside others; here it is its share, which can be added
      // up.
      const timings = { ...result.timings, decodeMs: this.decodeMs };
      this.resolve({ result: { ...result, timings }, workMs: this.laneMs });
      return true;
    } catch (error) {
      this.reject(error);
      return !leavesSlotInDoubt(error);
    } finally {
      this.window.release();
    }
  }

  fail(error: unknown): void {
    this.reject(error);
    this.window.release();
  }
}
