import type { Timer, Timers } from '../../timers.js';
import type { ChannelError } from './channel-errors.js';
import type { ChildProcessHandle, StartChild } from './child.js';
import { Heartbeat, isStoppedProcess, memoryOfProcess } from './heartbeat.js';
import type { FromChild } from './messages.js';

/**
 * Why a process has ended. Either a signal's name or `exit`, or a reason why this process ended it: `unresponsive`, or
 * `broken` if it answered a call that it was not given.
 */
export type DeathReason = string;

export interface Death {
  reason: DeathReason;
  /** Text for a log, with the end of the process's standard error. */
  how: string;
  /**
   * The id of the call that exceeded its time limit. null: no call did, and any of the process's calls may be the
   * cause.
   */
  blames: number | null;
}

export type CallMessage = Extract<FromChild, { id: number }>;

export interface WorkerEvents {
  ready(info: unknown): void;
  unfit(error: ChannelError): void;
  report(report: unknown): void;
  /** A message about a call that the process was given. */
  call(message: CallMessage): void;
  /** Called once, as the last event. null: this process asked it to end. */
  gone(death: Death | null): void;
}

/**
 * The events that depend on the process's purpose: ready and gone. Messages about calls go to the supervisor that
 * created it.
 */
export type WorkerRole = Omit<WorkerEvents, 'call'>;

export type MakeWorker = (role: WorkerRole) => WorkerProcess;

export interface WorkerLimits {
  /** Milliseconds between two pings. */
  periodMs: number;
  /**
   * Consecutive pings without a message after which the process is ended, before it is ready, while it loads its
   * models.
   */
  silentPingsBeforeReady: number;
  /** The same, after it is ready. */
  silentPings: number;
  /** Resident memory, bytes; Infinity: only the kernel limits it. */
  memoryBytes: number;
}

export interface WorkerOptions {
  start: StartChild;
  settings: unknown;
  limits: WorkerLimits;
  timers: Timers;
  isStopped?: ((pid: number | undefined) => boolean) | undefined;
  memoryOf?: ((pid: number | undefined) => number | null) | undefined;
}

/** A call for a worker. */
export interface WorkerCall {
  id: number;
  name: string;
  request: () => unknown;
  /** Longest time that a worker may take for it, milliseconds; null: no limit. */
  limitMs: number | null;
}

/** An aborted call with a time limit must end within this time. */
const ABORT_GRACE_MS = 10_000;

/** One child process that answers calls, from its start to its end. */
export class WorkerProcess {
  isReady = false;
  /** Whether it has answered a call, or reported progress of one. */
  isProven = false;
  /** Unanswered calls by id, with the timers of those that have a limit. */
  readonly #calls = new Map<number, Timer | null>();
  readonly #child: ChildProcessHandle;
  readonly #heartbeat: Heartbeat;
  readonly #limits: { periodMs: number; silentPings: number; memoryBytes: number };
  #ended: { reason: DeathReason | null; why: string; blames: number | null } | null = null;

  constructor(
    private readonly options: WorkerOptions,
    private readonly events: WorkerEvents,
  ) {
    const { start, settings, limits, timers, isStopped = isStoppedProcess, memoryOf = memoryOfProcess } = options;
    const { periodMs, silentPingsBeforeReady, memoryBytes } = limits;
    this.#limits = { periodMs, silentPings: silentPingsBeforeReady, memoryBytes };
    this.#child = start({
      message: (message, bytes) => this.#receive(message, bytes),
      exit: (how) => this.#exited(how),
    });
    this.#heartbeat = new Heartbeat(timers, this.#limits, {
      ping: () => this.#child.send({ kind: 'ping' }),
      memory: () => (memoryBytes === Infinity ? null : memoryOf(this.pid)),
      isStopped: () => isStopped(this.pid),
      isIdle: () => this.isReady && this.#calls.size === 0,
      fail: (why) => this.#end('unresponsive', why),
    });
    this.#child.send({ kind: 'start', settings });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it can take calls. */
  get isServing(): boolean {
    return this.isReady && this.#ended === null;
  }

  /** Ids of the unanswered calls. */
  get calls(): number[] {
    return [...this.#calls.keys()];
  }

  give({ id, name, request, limitMs }: WorkerCall): void {
    this.#calls.set(id, limitMs === null ? null : this.#limit(id, limitMs, `a call took longer than ${limitMs} ms`));
    this.#child.send({ kind: 'call', id, name, request: request() });
  }

  /** Aborts a call. The process must still answer it. */
  abort(id: number): void {
    const timer = this.#calls.get(id) ?? null;
    timer?.cancel();
    if (timer !== null) this.#calls.set(id, this.#limit(id, ABORT_GRACE_MS, 'it did not end an aborted call'));
    this.#child.send({ kind: 'abort', id });
  }

  /** Also works before the process is ready. */
  notify(value: unknown): void {
    this.#child.send({ kind: 'notice', value });
  }

  /** Ends the process at once, without a fault. */
  end(): void {
    this.#end(null, '');
  }

  #limit(id: number, milliseconds: number, why: string): Timer {
    return this.options.timers.after(milliseconds, () => this.#end('unresponsive', why, id));
  }

  #end(reason: DeathReason | null, why: string, blames: number | null = null): void {
    if (this.#ended !== null) return;
    this.#ended = { reason, why, blames };
    this.#child.kill();
  }

  #receive(message: FromChild, bytes: number): void {
    if (this.#ended !== null) return;
    this.#heartbeat.received(bytes);
    if (message.kind === 'ready') {
      this.isReady = true;
      this.#limits.silentPings = this.options.limits.silentPings;
      this.events.ready(message.value);
    } else if (message.kind === 'unfit') {
      this.#end(null, '');
      this.events.unfit(message.error);
    } else if (message.kind === 'report') this.events.report(message.value);
    else if (message.kind === 'pong') this.#endIfOverdue(message.overdue);
    else if (this.#calls.has(message.id)) this.#receiveOfCall(message);
    else this.#end('broken', 'it answered what it was not asked');
  }

  #receiveOfCall(message: CallMessage): void {
    this.isProven = true;
    if (message.kind !== 'progress') {
      this.#calls.get(message.id)?.cancel();
      this.#calls.delete(message.id);
    }
    this.events.call(message);
  }

  #endIfOverdue(overdue: unknown): void {
    if (typeof overdue === 'string') this.#end('unresponsive', `its ${overdue}() did not come back`);
  }

  #exited(how: string): void {
    this.#heartbeat.stop();
    for (const timer of this.#calls.values()) timer?.cancel();
    this.#ended ??= { reason: reasonOf(how), why: '', blames: null };
    const { reason, why, blames } = this.#ended;
    this.events.gone(reason === null ? null : { reason, how: why === '' ? how : `${why} (${how})`, blames });
  }
}

function reasonOf(how: string): DeathReason {
  return /^SIG[A-Z0-9]+/.exec(how)?.[0] ?? 'exit';
}
