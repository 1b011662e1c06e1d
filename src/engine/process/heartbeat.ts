import { readFileSync } from 'node:fs';
import type { Timer, Timers } from '../../timers.js';

export interface HeartbeatLimits {
  periodMs: number;
  /** Pings in a row without a message. Counted, not timed: this process, too, may have been stopped for a while. */
  silentPings: number;
  /** Resident memory, bytes. */
  memoryBytes: number;
}

/** Between two pings, however much it works on: reading it takes the time of this process. */
export const MOST_MESSAGES = 20_000;
export const MOST_BYTES = 64 * 2 ** 20;

/**
 * Looks in a row at which it was stopped: with a whole group of processes it is stopped and goes on, and this one with
 * it.
 */
const STOPPED_LOOKS = 2;

/** While it is idle and answers, one look of so many is taken: a ping wakes both processes. */
const IDLE_LOOKS = 10;

export interface Watched {
  ping(): void;
  /** Bytes; null when nobody knows. */
  memory(): number | null;
  /** Whether it has been stopped by a signal; default: nobody looks. */
  isStopped?(): boolean;
  /** Whether nobody waits for anything that it does; default: somebody does. */
  isIdle?(): boolean;
  /** It is to be ended, for this reason. */
  fail(reason: string): void;
}

/** Watches over a child that may hang, be stopped, or grow. */
export class Heartbeat {
  readonly #timer: Timer;
  #unanswered = 0;
  #stopped = 0;
  #rested = 0;
  #messages = 0;
  #bytes = 0;

  constructor(
    timers: Timers,
    private readonly limits: HeartbeatLimits,
    private readonly watched: Watched,
  ) {
    this.#timer = timers.every(limits.periodMs, () => this.#beat());
  }

  /** A message of so many bytes, whatever it says. */
  received(bytes: number): void {
    this.#unanswered = 0;
    this.#messages += 1;
    this.#bytes += bytes;
    if (this.#messages > MOST_MESSAGES || this.#bytes > MOST_BYTES) this.watched.fail('it sent too much');
  }

  stop(): void {
    this.#timer.cancel();
  }

  #beat(): void {
    const { silentPings, memoryBytes } = this.limits;
    this.#messages = 0;
    this.#bytes = 0;
    if (this.#mayRest()) return;
    const held = this.watched.memory() ?? 0;
    this.#stopped = this.watched.isStopped?.() === true ? this.#stopped + 1 : 0;
    if (held > memoryBytes) this.watched.fail(`it held ${mebibytes(held)} MiB; allowed: ${mebibytes(memoryBytes)}`);
    else if (this.#stopped >= STOPPED_LOOKS) this.watched.fail('it was stopped');
    else if (this.#unanswered >= silentPings) this.watched.fail(`it did not answer ${silentPings} pings`);
    else {
      this.#unanswered += 1;
      this.watched.ping();
    }
  }

  #mayRest(): boolean {
    const isCalm = this.watched.isIdle?.() === true && this.#unanswered + this.#stopped === 0;
    this.#rested = isCalm ? (this.#rested + 1) % IDLE_LOOKS : 0;
    return this.#rested > 0;
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

/** Of any process of this machine; null when it is gone. */
export function memoryOfProcess(pid: number | undefined): number | null {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(statusOf(pid))?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}

/** By a signal; not by a debugger. */
export function isStoppedProcess(pid: number | undefined): boolean {
  return /^State:\s+T/m.test(statusOf(pid));
}

function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
