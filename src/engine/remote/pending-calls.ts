import { VerbatimError } from '../../errors.js';
import type { FromChild } from '../process/messages.js';
import { errorOf } from '../process/told-errors.js';
import type { WorkOrigin } from '../types.js';
import type { EngineCalls } from './engine-calls.js';
import type { EngineChild } from './engine-child.js';

/** What the asker of a call may do when he hears of its progress. */
export interface CallControl {
  /** Lets it go on. */
  proceed(): void;
  /** Rejects it, and stops it. */
  fail(error: unknown): void;
  /** Some of its work is done for good, and will not be repeated. */
  cameFurther(): void;
}

export interface EngineCallOptions<Name extends keyof EngineCalls> {
  origin: WorkOrigin | undefined;
  signal: AbortSignal | undefined;
  /** Asked each time that it is sent: what a repeat need not do again has been told meanwhile. */
  request: () => EngineCalls[Name]['request'];
  progress: (value: EngineCalls[Name]['progress'], call: CallControl) => void;
  /** A process that is not this engine's has died with it; default: none has. */
  isSuspect?: boolean;
}

export interface EngineCall {
  readonly id: number;
  readonly name: string;
  readonly origin: WorkOrigin | undefined;
  request: () => unknown;
  progress: (value: unknown) => void;
  settle: (outcome: { value: unknown } | { error: unknown }) => void;
  /** Nobody waits for it any more. */
  settled: boolean;
  /** What works on it. */
  child: EngineChild | null;
}

export interface PendingCallsEvents {
  /** It waits for a trial, and not for the process that serves. */
  suspected(call: EngineCall): void;
  cameFurther(call: EngineCall): void;
  /** Once, last. */
  settled(call: EngineCall): void;
}

/** Calls that wait or are worked on: each holds a request, and what is told of it. */
const MOST_CALLS = 4096;
const RETRY_SECONDS = 5;

/** What the engine is asked for and has not answered yet, whichever process works on it. */
export class PendingCalls {
  readonly #calls = new Map<number, EngineCall>();
  /** For a process to work on them, in this order. */
  readonly #waiting = new Set<EngineCall>();
  #nextId = 1;

  constructor(private readonly events: PendingCallsEvents) {}

  get size(): number {
    return this.#calls.size;
  }

  /** It waits from now on. Rejects as EngineSupervisor.call() does. */
  add<Name extends keyof EngineCalls>(
    name: Name,
    { origin, signal, request, progress, isSuspect = false }: EngineCallOptions<Name>,
  ): Promise<EngineCalls[Name]['answer']> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#calls.size >= MOST_CALLS)
        throw new VerbatimError(...overloadedBy('Too many requests wait for the engine.'));
      const aborted = (): void => control.fail(signal?.reason);
      const call: EngineCall = {
        ...{ id: this.#nextId++, name, origin, request, settled: false, child: null },
        progress: (value) => progress(value as EngineCalls[Name]['progress'], control),
        settle: (outcome) => {
          if (call.settled) return;
          call.settled = true;
          signal?.removeEventListener('abort', aborted);
          this.#forget(call);
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an abort's reason is whatever it is
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value as EngineCalls[Name]['answer']);
        },
      };
      const control = this.#controlOf(call);
      signal?.addEventListener('abort', aborted, { once: true });
      this.#calls.set(call.id, call);
      if (isSuspect) this.events.suspected(call);
      else this.#waiting.add(call);
    });
  }

  sendWaiting(child: EngineChild): void {
    for (const call of this.#waiting) this.send(child, call);
  }

  send(child: EngineChild, call: EngineCall): void {
    this.#waiting.delete(call);
    call.child = child;
    child.calls.add(call.id);
    child.send({ kind: 'call', id: call.id, name: call.name, request: call.request() });
  }

  hear(message: Extract<FromChild, { id: number }>): void {
    const call = this.#calls.get(message.id);
    if (call === undefined) return;
    if (message.kind === 'progress') this.#tell(call, message.value);
    else
      call.settle(message.kind === 'answer' ? { value: message.value } : { error: errorOf(message.error) });
  }

  /** What a process had in it, which is gone. */
  lostIn(child: EngineChild): EngineCall[] {
    const lost = [...child.calls].flatMap((id) => this.#calls.get(id) ?? []);
    for (const call of lost) call.child = null;
    return lost;
  }

  /** They wait again, before what came later. */
  repeat(calls: readonly EngineCall[]): void {
    const later = [...this.#waiting];
    this.#waiting.clear();
    for (const call of [...calls, ...later]) this.#waiting.add(call);
  }

  failWaiting(error: () => Error): void {
    for (const call of [...this.#waiting]) call.settle({ error: error() });
  }

  #controlOf(call: EngineCall): CallControl {
    return {
      proceed: () => call.child?.send({ kind: 'proceed', id: call.id }),
      cameFurther: () => this.events.cameFurther(call),
      fail: (error) => this.#stop(call, error),
    };
  }

  #stop(call: EngineCall, error: unknown): void {
    call.child?.send({ kind: 'abort', id: call.id });
    call.settle({ error });
  }

  #tell(call: EngineCall, value: unknown): void {
    try {
      call.progress(value);
    } catch (error) {
      this.#stop(call, error);
    }
  }

  #forget(call: EngineCall): void {
    this.#calls.delete(call.id);
    this.#waiting.delete(call);
    this.events.settled(call);
  }
}

/** No process of the engine can be had for it. */
export class EngineUnavailable extends VerbatimError {
  constructor() {
    super(...overloadedBy('The engine does not start.'));
  }
}

export function shuttingDown(): VerbatimError {
  return new VerbatimError('shutting_down', 'The server is shutting down.');
}

export function unavailable(): EngineUnavailable {
  return new EngineUnavailable();
}

function overloadedBy(message: string): ConstructorParameters<typeof VerbatimError> {
  return ['overloaded', `${message} Try again later.`, { retryAfterSeconds: RETRY_SECONDS }];
}
