/**
 * Whole windows on slots, each of which decodes by itself. A slot never idles while any request has a window ready, and
 * a running window is never interrupted in favour of another: a request whose turn comes next waits for one window at
 * most.
 */
import type { AudioWindow, DecodeOptions } from '../binding.js';
import type { Clock } from '../clock.js';
import { leavesSlotInDoubt } from '../native-errors.js';
import { RequestQueue, type FinishedWindow, type WindowedRequest, type WindowRunner } from './request-queue.js';
import type { SlotPool } from './slot-pool.js';
import type { SchedulerLoad, WindowScheduler } from './window-scheduler.js';

export class SlotScheduler implements WindowScheduler, WindowRunner {
  private readonly requests: RequestQueue;

  /** `windowSeconds`: of the longest window. */
  constructor(
    private readonly pool: SlotPool,
    windowSeconds: number,
    private readonly clock: Clock,
  ) {
    const fill = (): void => this.fill();
    this.requests = new RequestQueue({ lookAhead: pool.size + 1, windowSeconds, fill });
    pool.whenIdle(() => this.requests.pump());
  }

  run(request: WindowedRequest, signal?: AbortSignal): Promise<void> {
    return this.requests.run(request, signal);
  }

  load(): SchedulerLoad {
    const { size, busy } = this.pool;
    const { queuedWindows } = this.requests;
    return { slots: size, busySlots: busy, windowsInFlight: busy, queuedWindows };
  }

  limit(slots: number): Promise<void> {
    const within = this.pool.limit(slots);
    this.requests.pump();
    return within;
  }

  /** A window in a slot: there is one, since fill() begins no window otherwise. */
  async transcribe(window: AudioWindow, options: DecodeOptions, signal: AbortSignal): Promise<FinishedWindow> {
    const lease = this.pool.take();
    if (lease === undefined) throw new Error('A window was begun without a slot.');
    const start = this.clock.now();
    try {
      const result = await lease.slot.transcribe(window, options, { signal });
      lease.release(false);
      return { result, workMs: this.clock.now() - start };
    } catch (error) {
      lease.release(leavesSlotInDoubt(error));
      throw error;
    }
  }

  whenDrained(): Promise<void> {
    return this.requests.whenDrained();
  }

  close(): void {
    this.pool.close();
  }

  private fill(): void {
    while (this.pool.idle > 0) {
      const request = this.requests.next();
      if (request === undefined) return;
      this.requests.begin(request, this);
    }
  }
}
