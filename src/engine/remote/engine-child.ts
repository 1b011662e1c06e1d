import type { Timers } from '../../timers.js';
import type { ChildProcessHandle, StartChild } from '../process/child.js';
import { Heartbeat, isStoppedProcess } from '../process/heartbeat.js';
import type { FromChild, ToChild } from '../process/messages.js';
import type { ToldError } from '../process/told-errors.js';
import type { EngineHealth, EngineInfo, EngineReport } from './engine-calls.js';

/** Why a process has ended: a signal's name; `exit`; or that we have ended it, since it was `unresponsive` or said what it must not. */
export type DeathReason = string;

export interface Death {
  reason: DeathReason;
  /** For a log: with what it wrote last. */
  how: string;
}

export interface EngineChildEvents {
  ready(info: EngineInfo): void;
  unfit(error: ToldError): void;
  report(report: EngineReport): void;
  /** Of a call that is in it. */
  call(message: Extract<FromChild, { id: number }>): void;
  /** Once, last; null: we wanted it so. */
  gone(death: Death | null): void;
}

/** What a process is for decides what becomes of it; its calls are heard by whoever made it. */
export type EngineChildRole = Omit<EngineChildEvents, 'call'>;

export type MakeEngineChild = (role: EngineChildRole) => EngineChild;

export interface EngineChildOptions {
  start: StartChild;
  settings: unknown;
  timers: Timers;
  isStopped?: (pid: number | undefined) => boolean;
}

/** Pings without a word: before it is ready, it reads its code and its models; then its event loop never stops for long. */
const SILENT_PINGS_BEFORE_READY = 240;
const SILENT_PINGS = 20;

/** One process of the engine, from its start to its end. */
export class EngineChild {
  /** Calls that are in it. */
  readonly calls = new Set<number>();
  isReady = false;
  /** Has said something of a call. */
  isProven = false;
  readonly #child: ChildProcessHandle;
  readonly #heartbeat: Heartbeat;
  /** Its memory is the kernel's to bound: an engine is as large as its models. */
  readonly #limits = { periodMs: 500, silentPings: SILENT_PINGS_BEFORE_READY, memoryBytes: Infinity };
  #ended: { reason: DeathReason | null; why: string } | null = null;

  constructor(
    { start, settings, timers, isStopped = isStoppedProcess }: EngineChildOptions,
    private readonly events: EngineChildEvents,
  ) {
    this.#child = start({
      message: (message, bytes) => this.#receive(message, bytes),
      exit: (how) => this.#exited(how),
    });
    this.#heartbeat = new Heartbeat(timers, this.#limits, {
      ping: () => this.send({ kind: 'ping' }),
      memory: () => null,
      isStopped: () => isStopped(this.pid),
      isIdle: () => this.isReady && this.calls.size === 0,
      fail: (why) => this.#end('unresponsive', why),
    });
    this.send({ kind: 'start', settings });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it can be given work. */
  get isServing(): boolean {
    return this.isReady && this.#ended === null;
  }

  send(message: ToChild): void {
    this.#child.send(message);
  }

  /** At once, and not for a fault of its. */
  end(): void {
    this.#end(null, '');
  }

  #end(reason: DeathReason | null, why: string): void {
    if (this.#ended !== null) return;
    this.#ended = { reason, why };
    this.#child.kill();
  }

  #receive(message: FromChild, bytes: number): void {
    if (this.#ended !== null) return;
    this.#heartbeat.heard(bytes);
    if (message.kind === 'ready') {
      this.isReady = true;
      this.#limits.silentPings = SILENT_PINGS;
      this.events.ready(message.value as EngineInfo);
    } else if (message.kind === 'unfit') {
      this.#end(null, '');
      this.events.unfit(message.error);
    } else if (message.kind === 'report') this.events.report(message.value as EngineReport);
    else if (message.kind === 'pong') this.#look(message.value as EngineHealth | undefined);
    else if (this.calls.has(message.id)) this.#hear(message);
    else this.#end('broken', 'it answered what it was not asked');
  }

  #hear(message: Extract<FromChild, { id: number }>): void {
    if (message.kind !== 'progress') this.calls.delete(message.id);
    this.isProven = true;
    this.events.call(message);
  }

  #look(health: EngineHealth | undefined): void {
    if (typeof health?.overdue === 'string')
      this.#end('unresponsive', `its ${health.overdue}() did not come back`);
  }

  #exited(how: string): void {
    this.#heartbeat.stop();
    const { reason, why } = this.#ended ?? { reason: reasonOf(how), why: '' };
    this.events.gone(reason === null ? null : { reason, how: why === '' ? how : `${why} (${how})` });
  }
}

function reasonOf(how: string): DeathReason {
  return /^SIG[A-Z0-9]+/.exec(how)?.[0] ?? 'exit';
}
