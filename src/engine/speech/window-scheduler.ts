/** The interface of a scheduler; there is one for each way of decoding. */
import type { WindowedRequest } from './request-queue.js';

export interface SchedulerLoad {
  /** What computes at once. */
  slots: number;
  busySlots: number;
  /** Windows begun and not finished. */
  windowsInFlight: number;
  /** Windows not begun. */
  queuedWindows: number;
}

export interface WindowScheduler {
  /**
   * Resolves when every window of the request has run. Rejects with the first error, or with signal.reason at once when
   * aborted; windows that run are then aborted and no other one starts.
   */
  run(request: WindowedRequest, signal?: AbortSignal): Promise<void>;
  load(): SchedulerLoad;
  /**
   * At most so many slots, or lanes, work from now on; 0: none. Resolves when no more do: a window in a slot ends
   * first, a lane's unit of work is short.
   */
  limit(lanes: number): Promise<void>;
  /** Resolves when no request is left and nothing runs any more. */
  whenDrained(): Promise<void>;
  /** Frees everything that was made of the models. */
  close(): void;
}
