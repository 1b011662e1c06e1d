/** The child's end of the channel. */
import { Socket } from 'node:net';
import { EngineError } from '../native-errors.js';
import { FrameReader, FrameWriter, type Form } from './frames.js';
import { CHANNEL_FD, formOf, type CallTable, type FromChild, type ToChild } from './messages.js';
import { told } from './told-errors.js';

export interface CallContext<Progress> {
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Resolves when the channel has taken it, so that who waits for that never fills it. */
  progress: (value: Progress) => Promise<void>;
  /** Resolves when the other end lets the call go on; rejects when it is aborted. At most once a call. */
  proceeds: () => Promise<void>;
}

export type Handlers<Calls extends CallTable> = {
  [Name in keyof Calls]: (
    request: Calls[Name]['request'],
    context: CallContext<Calls[Name]['progress']>,
  ) => Promise<Calls[Name]['answer']>;
};

/** What a child says of itself, beside its answers. */
export interface SelfReport {
  /** Sent with `ready`: what it has become. */
  info?: unknown;
  /** Sent with every `pong`. */
  health?: () => unknown;
  /** Called as a call comes. */
  beforeCall?: () => void;
  /** Called before every answer and failure. */
  beforeAnswer?: () => void;
}

/** The way to the process that asks. */
export interface Channel {
  on(event: 'message', listener: (message: ToChild) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  send(message: FromChild, done: (error: Error | null) => void): void;
  exit(): void;
}

/**
 * Answers calls until the other end is gone, and ends for no signal that a terminal or a service manager sends to all processes of a
 * group. `start` makes ready, once, by settings that are the other end's to choose; what it rejects with is told as being unfit for good.
 */
export function serveCalls<Calls extends CallTable>(
  start: (
    settings: unknown,
    self: SelfReport,
    report: (value: unknown) => Promise<void>,
  ) => Promise<Handlers<Calls>>,
  channel: Channel = processChannel(),
): void {
  const tell = (message: FromChild): Promise<void> =>
    new Promise((resolve) => channel.send(message, () => resolve()));
  const running = new Map<number, RunningCall>();
  const self: SelfReport = {};
  let handlers: Handlers<Calls> | null = null;

  const begin = async (settings: unknown): Promise<void> => {
    try {
      handlers = await start(settings, self, (value) => tell({ kind: 'report', value }));
      await tell({ kind: 'ready', value: self.info });
    } catch (error) {
      await tell({ kind: 'unfit', error: told(error) });
    }
  };
  const end = async (message: Extract<FromChild, { kind: 'answer' | 'failure' }>): Promise<void> => {
    // Twice where an answer cannot be sent, and a failure is in its place.
    if (running.delete(message.id)) self.beforeAnswer?.();
    await tell(message);
  };
  const answer = async (id: number, name: string, request: unknown): Promise<void> => {
    const call = new RunningCall();
    running.set(id, call);
    self.beforeCall?.();
    try {
      const handler = handlers?.[name];
      if (handler === undefined) throw new Error(`There is no call "${name}".`);
      // What comes after its end is of nothing that the other end knows.
      const progress = async (value: unknown): Promise<void> => {
        if (running.has(id)) await tell({ kind: 'progress', id, value });
      };
      const proceeds = (): Promise<void> => call.proceeds();
      const value = await handler(request, { signal: call.signal, progress, proceeds });
      await end({ kind: 'answer', id, value });
    } catch (error) {
      await end({ kind: 'failure', id, error: told(error) });
    }
  };

  channel.on('disconnect', () => channel.exit());
  channel.on('message', (message) => {
    if (message.kind === 'start') void begin(message.settings);
    else if (message.kind === 'call') void answer(message.id, message.name, message.request);
    else if (message.kind === 'proceed') running.get(message.id)?.proceed();
    else if (message.kind === 'abort') running.get(message.id)?.abort(aborted());
    else void tell({ kind: 'pong', value: self.health?.() });
  });
}

class RunningCall {
  readonly #aborting = new AbortController();
  #settle!: { resolve: () => void; reject: (reason: Error) => void };
  readonly #allowed = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));

  constructor() {
    // Most calls wait for nothing.
    this.#allowed.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  proceed(): void {
    this.#settle.resolve();
  }

  abort(reason: Error): void {
    this.#settle.reject(reason);
    this.#aborting.abort(reason);
  }

  proceeds(): Promise<void> {
    return this.#allowed;
  }
}

function aborted(): EngineError {
  return new EngineError('aborted', 'The call was aborted.');
}

/** To the process that has forked this one. `form`: of what its calls tell and answer. */
export function processChannel(form: Form = 'clone'): Channel {
  const socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  // A parent that is gone: `close` follows.
  socket.on('error', () => undefined);
  const writer = new FrameWriter(socket);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  return {
    on: (event: 'message' | 'disconnect', listener: (message: ToChild) => void) => {
      if (event === 'disconnect') return socket.on('close', listener as () => void);
      const frames = new FrameReader(Infinity);
      return socket.on('data', (piece) => {
        for (const { value } of frames.push(piece)) listener(value as ToChild);
      });
    },
    send: (message, done) => writer.write(message, formOf(message, form), done),
    // Not exit(), which waits for threads of native code, or takes their memory from under them.
    exit: () => void process.kill(process.pid, 'SIGKILL'),
  };
}
