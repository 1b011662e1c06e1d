import type { HttpTarget, Outcome, Upload } from '../../bench/load/http-target.js';
import { FakeClock } from '../engine/fake-clock.js';

export interface Sent {
  upload: Upload;
  account: number;
  /** Milliseconds. */
  at: number;
  signal: AbortSignal | undefined;
}

/**
 * A server in virtual time: it answers after `delay()` ms, Infinity for never, with `status()`, or not at all once the
 * client has hung up.
 */
export class TimedTarget implements HttpTarget {
  readonly name = 'timed';
  readonly accounts = 2;
  readonly clock = new FakeClock();
  readonly sent: Sent[] = [];
  inFlight = 0;
  mostInFlight = 0;

  constructor(
    private readonly delay: (upload: Upload) => number,
    private readonly status: () => number = () => 200,
  ) {}

  async send(upload: Upload, account: number, signal?: AbortSignal): Promise<Outcome> {
    const at = this.clock.now();
    this.sent.push({ upload, account, at, signal });
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    const isAnswered = await this.answered(this.delay(upload), signal);
    this.inFlight--;
    const milliseconds = this.clock.now() - at;
    if (!isAnswered) return { status: 0, milliseconds, phases: {} };
    return { status: this.status(), milliseconds, phases: { upload: 1, queue: 7.5 } };
  }

  /** Runs the work in virtual time to its end. */
  async run<T>(work: (clock: FakeClock) => Promise<T>): Promise<T> {
    const state = { isDone: false };
    const working = work(this.clock).finally(() => (state.isDone = true));
    working.catch(() => undefined); // until it is awaited below
    while (!state.isDone) await this.clock.run();
    return working;
  }

  private answered(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      if (milliseconds !== Infinity) this.clock.after(milliseconds, () => resolve(true));
      signal?.addEventListener('abort', () => resolve(false));
    });
  }
}
