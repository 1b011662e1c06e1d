import { readFileSync } from 'node:fs';
import type { Timer, Timers } from '../../timers.js';

export interface HeartbeatLimits {
  periodMs: number;
  /** Consecutive pings without a message. Counted instead of timed, because this process may also have been stopped. */
  silentPings: number;
  /** Resident memory, bytes. */
  memoryBytes: number;
}

/** The most that a child may send between two pings. Reading takes time of this process. */
export const MOST_MESSAGES = 20_000;
export const MOST_BYTES = 64 * 2 ** 20;

/**
 * Consecutive checks that find the process stopped, after which it is ended. One is not enough: a group of processes
 * may be stopped and continued together, and this process with it.
 */
const STOPPED_LOOKS = 2;

/** An idle child that answers is checked only every tenth time, because a ping wakes both processes. */
const IDLE_LOOKS = 10;

export interface Watched {
  ping(): void;
  /** Bytes; null: unknown. */
  memory(): number | null;
  /** Whether a signal has stopped the process. Default: not checked. */
  isStopped?(): boolean;
  /** Whether nobody waits for its work. Default: somebody does. */
  isIdle?(): boolean;
  /** Called with the reason why the process must be ended. */
  fail(reason: string): void;
}

/** Watches a child that may hang, be stopped, or use too much memory. */
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

  /** Counts a message of this size. */
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

/** Resident memory of any process of this machine, in bytes. null: the process has ended. */
export function memoryOfProcess(pid: number | undefined): number | null {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(statusOf(pid))?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}

/** Whether a signal has stopped the process. A process stopped by a debugger does not count. */
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
