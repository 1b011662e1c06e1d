import type { WindowInFlight } from '../binding.js';
import type { FinishedWindow, QueuedRequest } from './request-queue.js';

/**
 * Where a window is: it waits for an encoder, is in the hands of one, waits until there is a batch again, or is in the batch.
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
  /** What it has taken of the lanes' time. */
  workMs = 0;
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

  /** Ends it with what came of the window. */
  finish(): void {
    try {
      this.resolve({ result: this.window.result(), workMs: this.workMs });
    } catch (error) {
      this.reject(error);
    }
    this.window.release();
  }

  fail(error: unknown): void {
    this.reject(error);
    this.window.release();
  }
}
