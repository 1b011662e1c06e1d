import { VerbatimError } from '../../errors.js';
import type { WorkOrigin } from '../types.js';
import { fromChannelError } from './channel-errors.js';
import type { CallTable } from './messages.js';
import type { CallMessage, WorkerCall, WorkerProcess } from './worker-process.js';

export interface CallControl {
  /** A part of the work is done and will not be repeated. */
  checkpoint(): void;
}

export interface ChildCallOptions<Call extends CallTable[string]> {
  /** The request that the call belongs to. */
  origin?: WorkOrigin | undefined;
  signal?: AbortSignal | undefined;
  /** Called each time the call is sent, so that a repeat can leave out work that is done. */
  request: () => Call['request'];
  /** A repeated call reports its progress from the start again, or from where `request` begins. */
  progress?: (value: Call['progress'], control: CallControl) => void;
  /**
   * The longest time that a process may take for the call, in milliseconds. Default: no limit. A slower process is
   * ended.
   */
  limitMs?: number;
  /** Whether a process of another device died with this call. Default: false. */
  crashedElsewhere?: boolean;
}

export interface PendingCall extends WorkerCall {
  readonly origin: WorkOrigin | undefined;
  progress: (value: unknown) => void;
  settle: (outcome: { value: unknown } | { error: unknown }) => void;
  /** The call was answered, or nobody waits for it any more. */
  settled: boolean;
  /** The process that works on the call. */
  worker: WorkerProcess | null;
}

export interface PendingCallsEvents {
  /** A new call waits. Returns true if something other than sendWaiting() sends it. */
  added(call: PendingCall, crashedElsewhere: boolean): boolean;
  checkpoint(call: PendingCall): void;
  /** Called once, as the last event. */
  settled(call: PendingCall): void;
}

/** The most calls that may wait or be worked on. Each holds a request and its results so far. */
const MOST_CALLS = 4096;
const RETRY_SECONDS = 5;

/** The unanswered calls of all processes. */
export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>();
  /** Calls for the serving process, in this order. */
  readonly #waiting = new Set<PendingCall>();
  #nextId = 1;

  /** `name`: the process's name in messages. */
  constructor(
    private readonly name: string,
    private readonly events: PendingCallsEvents,
  ) {}

  get size(): number {
    return this.#calls.size;
  }

  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The call waits from now on. Rejects as Supervisor.call() does. */
  add<Call extends CallTable[string]>(name: string, options: ChildCallOptions<Call>): Promise<Call['answer']> {
    const { origin, signal, request, progress, limitMs = null, crashedElsewhere = false } = options;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#calls.size >= MOST_CALLS) throw overloaded(`Too many requests wait for ${this.name}.`);
      const aborted = (): void => this.#stop(call, signal?.reason);
      const call: PendingCall = {
        ...{ id: this.#nextId++, name, origin, request, limitMs, settled: false, worker: null },
        progress: (value) => progress?.(value, control),
        settle: (outcome) => {
          if (call.settled) return;
          call.settled = true;
          signal?.removeEventListener('abort', aborted);
          this.#remove(call);
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an abort's reason is any value
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value);
        },
      };
      const control: CallControl = { checkpoint: () => this.events.checkpoint(call) };
      signal?.addEventListener('abort', aborted, { once: true });
      this.#calls.set(call.id, call);
      if (!this.events.added(call, crashedElsewhere)) this.#waiting.add(call);
    });
  }

  sendWaiting(worker: WorkerProcess): void {
    for (const call of this.#waiting) this.send(worker, call);
  }

  send(worker: WorkerProcess, call: PendingCall): void {
    this.#waiting.delete(call);
    call.worker = worker;
    worker.give(call);
  }

  receive(message: CallMessage): void {
    const call = this.#calls.get(message.id);
    if (call === undefined) return;
    if (message.kind === 'progress') this.#report(call, message.value);
    else call.settle(message.kind === 'answer' ? { value: message.value } : { error: fromChannelError(message.error) });
  }

  /** The unanswered calls of a process that has ended. */
  lostIn(worker: WorkerProcess): PendingCall[] {
    const lost = worker.calls.flatMap((id) => this.#calls.get(id) ?? []);
    for (const call of lost) call.worker = null;
    return lost;
  }

  /** These calls wait again, ahead of calls that came later. */
  repeat(calls: readonly PendingCall[]): void {
    const later = [...this.#waiting];
    this.#waiting.clear();
    for (const call of [...calls, ...later]) this.#waiting.add(call);
  }

  /** Takes calls from the serving process or from its queue. The caller sends them elsewhere. */
  withdraw(which: (call: PendingCall) => boolean, serving: WorkerProcess | null): PendingCall[] {
    const isServed = (call: PendingCall): boolean =>
      this.#waiting.has(call) || (call.worker !== null && call.worker === serving);
    const withdrawn = [...this.#calls.values()].filter((call) => which(call) && isServed(call));
    for (const call of withdrawn) {
      this.#waiting.delete(call);
      if (call.worker !== null) this.#recall(call, call.worker);
    }
    return withdrawn;
  }

  failWaiting(error: () => Error): void {
    for (const call of [...this.#waiting]) call.settle({ error: error() });
  }

  /** Gives the call a new id, so that later messages of its process belong to no call. */
  #recall(call: PendingCall, worker: WorkerProcess): void {
    worker.abort(call.id);
    this.#calls.delete(call.id);
    call.id = this.#nextId++;
    call.worker = null;
    this.#calls.set(call.id, call);
  }

  #stop(call: PendingCall, error: unknown): void {
    call.worker?.abort(call.id);
    call.settle({ error });
  }

  #report(call: PendingCall, value: unknown): void {
    try {
      call.progress(value);
    } catch (error) {
      this.#stop(call, error);
    }
  }

  #remove(call: PendingCall): void {
    this.#calls.delete(call.id);
    this.#waiting.delete(call);
    this.events.settled(call);
  }
}

/** No process can be started for the call. */
export class ProcessUnavailable extends VerbatimError {
  /** `name`: the process's name in messages, such as "the engine". */
  constructor(name: string) {
    super(...overloadedBy(`${capitalized(name)} does not start.`));
  }
}

export function shuttingDown(): VerbatimError {
  return new VerbatimError('shutting_down', 'The server is shutting down.');
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function overloaded(message: string): VerbatimError {
  return new VerbatimError(...overloadedBy(message));
}

function overloadedBy(message: string): ConstructorParameters<typeof VerbatimError> {
  return ['overloaded', `${message} Try again later.`, { retryAfterSeconds: RETRY_SECONDS }];
}
