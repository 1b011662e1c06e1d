import { VerbatimError } from '../../errors.js';
import { GrowingPause } from '../../growing-pause.js';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import { EngineError } from '../native-errors.js';
import type { ChildProcessHandle, StartChild } from './child.js';
import { Heartbeat, memoryOfProcess, type HeartbeatLimits } from './heartbeat.js';
import type { CallTable, FromChild } from './messages.js';
import { errorOf, type ToldError } from './told-errors.js';

export interface ProcessOptions extends HeartbeatLimits {
  /** In messages: "the speaker process". */
  name: string;
  start: StartChild;
  /** What each child is started with. */
  settings: unknown;
  /** Calls that it works on at once, 1 or more. */
  callsAtOnce: number;
  /** Calls that wait for it; more are refused. */
  maxWaiting: number;
  /** Without a call for so long it is ended, and its memory given back. */
  idleMs: number;
  timers?: Timers;
  memoryOf?: (pid: number | undefined) => number | null;
  observer?: ProcessObserver;
}

export interface ProcessObserver {
  /** For a log: why, and what it wrote last. Not after an idle end or close(). */
  died?(how: string): void;
}

export interface SupervisedCallOptions<Progress> {
  signal?: AbortSignal | undefined;
  /** A call that is repeated tells its progress from the start again. */
  progress?: (value: Progress) => void;
  /** Longest that the child may work on it, from when it is sent; a child that takes longer is ended, and the call with it. */
  limitMs: number;
}

interface Call {
  id: number;
  name: string;
  request: unknown;
  limitMs: number;
  progress: ((value: unknown) => void) | undefined;
  settle: (outcome: { value: unknown } | { error: Error }) => void;
  /** Nobody waits for it any more. */
  settled: boolean;
  /** Children that died while they worked on it. */
  deaths: number;
  /** Runs while a child works on it. */
  timer: Timer | null;
}

interface Running {
  child: ChildProcessHandle;
  heartbeat: Heartbeat;
  ready: boolean;
  /** A call of its has been answered. */
  proven: boolean;
  /** Why we have ended it; null: we have not. */
  ended: { reason: string; blames: Call | null } | null;
}

/** Children in a row that die before they are ready: what waits for one is not kept any longer. */
const FRUITLESS_STARTS = 3;
/** A child may take so long to end a call that nobody waits for. */
const ABORT_GRACE_MS = 10_000;

/**
 * A child process that answers calls, and is started when there are any. Its death loses none: each call that it worked on is
 * repeated once, by itself, in a fresh one, and fails only if that dies as well, so that a call which kills its process fails alone. A child that
 * is silent, too large or too slow is ended; one that keeps dying is started with growing pauses.
 */
export class SupervisedProcess<Calls extends CallTable> {
  readonly #options: ProcessOptions;
  readonly #timers: Timers;
  #nextId = 1;
  #waiting: Call[] = [];
  /** Worked on by a child that died: each is repeated by itself. */
  #suspects: Call[] = [];
  readonly #inFlight = new Map<number, Call>();
  #running: Running | null = null;
  #idle: Timer | null = null;
  /** Before the next start. */
  readonly #pause: GrowingPause;
  #fruitless = 0;
  #closed = false;
  #ended: (() => void)[] = [];

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#pause = new GrowingPause(this.#timers);
  }

  /**
   * Rejects with the signal's reason; with what the child's handler threw, as an EngineError; `overloaded` when too many wait;
   * `shutting_down` after close().
   */
  call<Name extends keyof Calls & string>(
    name: Name,
    request: Calls[Name]['request'],
    { signal, progress, limitMs }: SupervisedCallOptions<Calls[Name]['progress']>,
  ): Promise<Calls[Name]['answer']> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      this.#refuseIfFull();
      const aborted = (): void => this.#abort(call, signal?.reason as Error);
      const call: Call = {
        ...{ id: this.#nextId++, name, request, limitMs, settled: false, deaths: 0, timer: null },
        progress,
        settle: (outcome) => {
          if (call.settled) return;
          call.settled = true;
          signal?.removeEventListener('abort', aborted);
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value);
        },
      };
      signal?.addEventListener('abort', aborted);
      this.#waiting.push(call);
      this.#advance();
    });
  }

  stats(): { waiting: number; running: number; pid: number | null } {
    return {
      waiting: this.#waiting.length + this.#suspects.length,
      running: this.#inFlight.size,
      pid: this.#running?.child.pid ?? null,
    };
  }

  /** Ends the child at once; what waits or runs is rejected with `shutting_down`. Resolves when the child is gone. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    this.#stopIdleness();
    this.#rejectAll(shuttingDown);
    for (const call of this.#inFlight.values()) call.settle({ error: shuttingDown() });
    if (this.#running === null) return;
    this.#running.child.kill();
    await new Promise<void>((resolve) => this.#ended.push(resolve));
  }

  #refuseIfFull(): void {
    if (this.#closed) throw shuttingDown();
    if (this.#waiting.length < this.#options.maxWaiting) return;
    const message = `Too many requests wait for ${this.#options.name}. Try again later.`;
    throw new VerbatimError('overloaded', message, { retryAfterSeconds: 10 });
  }

  /** Whatever can be done now. */
  #advance(): void {
    this.#dropSettled();
    if (this.#closed || this.#pause.isRunning) return;
    const wanted = this.#suspects.length + this.#waiting.length > 0;
    if (this.#running === null) {
      if (wanted) this.#start();
      return;
    }
    if (!this.#running.ready || this.#running.ended !== null) return;
    for (let call = this.#next(); call !== undefined; call = this.#next()) this.#send(this.#running, call);
    this.#watchIdleness(this.#running);
  }

  #dropSettled(): void {
    this.#waiting = this.#waiting.filter(({ settled }) => !settled);
    this.#suspects = this.#suspects.filter(({ settled }) => !settled);
  }

  /** A suspect has the child to itself. */
  #next(): Call | undefined {
    const running = [...this.#inFlight.values()];
    if (this.#suspects.length > 0) return running.length === 0 ? this.#suspects.shift() : undefined;
    if (running.some(({ deaths }) => deaths > 0)) return undefined;
    return running.length < this.#options.callsAtOnce ? this.#waiting.shift() : undefined;
  }

  #send({ child }: Running, call: Call): void {
    const { id, name, request, limitMs } = call;
    this.#inFlight.set(id, call);
    call.timer = this.#timers.after(limitMs, () => this.#end(`a call took longer than ${limitMs} ms`, call));
    child.send({ kind: 'call', id, name, request });
  }

  #abort(call: Call, reason: Error): void {
    call.settle({ error: reason });
    const running = this.#running;
    if (running === null || !this.#inFlight.has(call.id)) {
      this.#advance();
      return;
    }
    call.timer?.cancel();
    call.timer = this.#timers.after(ABORT_GRACE_MS, () => this.#end('it did not end an aborted call', call));
    running.child.send({ kind: 'abort', id: call.id });
  }

  #start(): void {
    const { start, settings, memoryOf = memoryOfProcess } = this.#options;
    const child = start({
      message: (message, bytes) => this.#receive(running, message, bytes),
      exit: (how) => this.#exited(running, how),
    });
    const heartbeat = new Heartbeat(this.#timers, this.#options, {
      ping: () => child.send({ kind: 'ping' }),
      memory: () => memoryOf(child.pid),
      fail: (reason) => this.#end(reason, null),
    });
    const running: Running = { child, heartbeat, ready: false, proven: false, ended: null };
    this.#running = running;
    child.send({ kind: 'start', settings });
  }

  /** `blames` is the call that it is ended for: nothing else in it is suspected, and the call is not repeated. */
  #end(reason: string, blames: Call | null): void {
    if (this.#running === null || this.#running.ended !== null) return;
    this.#running.ended = { reason, blames };
    this.#running.child.kill();
  }

  #receive(running: Running, message: FromChild, bytes: number): void {
    if (running !== this.#running || running.ended !== null) return;
    running.heartbeat.heard(bytes);
    if (message.kind === 'ready') {
      running.ready = true;
      this.#fruitless = 0;
    } else if (message.kind === 'unfit') this.#unfit(running, message.error);
    else if ('id' in message) this.#hear(running, message);
    this.#advance();
  }

  #unfit(running: Running, error: ToldError): void {
    running.ended = { reason: error.message, blames: null };
    running.child.kill();
    this.#rejectAll(() => errorOf(error));
  }

  #hear(running: Running, message: Extract<FromChild, { id: number }>): void {
    const call = this.#inFlight.get(message.id);
    if (call === undefined) {
      this.#end('it answered what it was not asked', null);
      return;
    }
    if (message.kind === 'progress') {
      if (!call.settled) call.progress?.(message.value);
      return;
    }
    this.#inFlight.delete(call.id);
    call.timer?.cancel();
    running.proven = true;
    this.#pause.end();
    call.settle(message.kind === 'answer' ? { value: message.value } : { error: errorOf(message.error) });
  }

  #exited(running: Running, how: string): void {
    running.heartbeat.stop();
    this.#stopIdleness();
    this.#running = null;
    const lost = [...this.#inFlight.values()];
    this.#inFlight.clear();
    for (const { timer } of lost) timer?.cancel();
    for (const resolve of this.#ended.splice(0)) resolve();
    if (this.#closed || running.ended?.reason === IDLE) {
      this.#advance();
      return;
    }
    const reason = running.ended === null ? how : `${running.ended.reason} (${how})`;
    this.#options.observer?.died?.(reason);
    this.#repeatOrFail(lost, running.ended?.blames ?? null, reason);
    if (!running.ready) this.#startFailed(reason);
    this.#pauseBeforeStart(running);
  }

  #repeatOrFail(lost: readonly Call[], blamed: Call | null, reason: string): void {
    const failed = (): EngineError =>
      new EngineError(
        'internal_error',
        `${capitalized(this.#options.name)} died of this request: ${reason}.`,
      );
    blamed?.settle({ error: failed() });
    if (blamed !== null) {
      this.#waiting.unshift(...lost);
      return;
    }
    for (const call of lost) {
      if (++call.deaths > 1) call.settle({ error: failed() });
      else this.#suspects.push(call);
    }
  }

  #startFailed(reason: string): void {
    this.#fruitless += 1;
    if (this.#fruitless < FRUITLESS_STARTS) return;
    const message = `${capitalized(this.#options.name)} does not start: ${reason}.`;
    this.#rejectAll(() => new EngineError('internal_error', message));
  }

  /** None after one that has answered: its next calls have a right to their second try. */
  #pauseBeforeStart({ proven }: Running): void {
    if (!proven) this.#pause.begin(() => this.#advance());
    this.#advance();
  }

  #rejectAll(error: () => Error): void {
    for (const call of [...this.#suspects.splice(0), ...this.#waiting.splice(0)])
      call.settle({ error: error() });
  }

  #watchIdleness(running: Running): void {
    if (this.#inFlight.size > 0) {
      this.#stopIdleness();
      return;
    }
    this.#idle ??= this.#timers.after(this.#options.idleMs, () => {
      if (running === this.#running) this.#end(IDLE, null);
    });
  }

  #stopIdleness(): void {
    this.#idle?.cancel();
    this.#idle = null;
  }
}

const IDLE = 'idle';

function shuttingDown(): VerbatimError {
  return new VerbatimError('shutting_down', 'The server is shutting down.');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
