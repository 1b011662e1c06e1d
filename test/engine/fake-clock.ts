/** Virtual time: it moves when the test says. */
import type { Clock } from '../../src/engine/clock.js';

export class FakeClock implements Clock {
  private time = 0;
  private events: { at: number; fire: () => void }[] = [];

  now(): number {
    return this.time;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  after(milliseconds: number, fire: () => void): void {
    const at = this.time + milliseconds;
    const later = this.events.findIndex((event) => event.at > at);
    this.events.splice(later < 0 ? this.events.length : later, 0, { at, fire });
  }

  /** Lets everything happen that happens until then; without an end, until nothing is left to happen. */
  async run(untilMs = Infinity): Promise<void> {
    await settled();
    while (this.events[0] !== undefined && this.events[0].at <= untilMs) {
      const event = this.events.shift()!;
      this.time = event.at;
      event.fire();
      await settled();
    }
    if (untilMs !== Infinity) this.time = untilMs;
  }

  /** Lets everything happen while the work goes on. */
  during<T>(work: Promise<T>): Promise<T> {
    const running = this.run();
    return work.finally(() => running);
  }
}

/** All microtasks have run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
