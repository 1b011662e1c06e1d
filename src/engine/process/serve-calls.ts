/** The child's end of the channel. */
import { Socket } from 'node:net';
import { EngineError } from '../native-errors.js';
import { toChannelError } from './channel-errors.js';
import { FrameReader, FrameWriter } from './frames.js';
import { CHANNEL_FD, type CallTable, type FromChild, type ToChild } from './messages.js';

export interface CallContext<Progress> {
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Resolves when the channel has taken the value. A handler that awaits it cannot fill the channel's buffer. */
  progress: (value: Progress) => Promise<void>;
}

export type Handlers<Calls extends CallTable> = {
  [Name in keyof Calls]: (
    request: Calls[Name]['request'],
    context: CallContext<Calls[Name]['progress']>,
  ) => Promise<Calls[Name]['answer']>;
};

/** What a child reports about itself, beside its answers. */
export interface SelfReport {
  /** Sent with `ready`. */
  info?: unknown;
  /** The native call that has been running for longer than it may; null: none has. Asked at each ping. */
  overdue?: () => string | null;
  /** Called with each notice, of those that came before it was ready with the last. */
  notice?: (value: unknown) => void;
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
 * Answers calls until the other end is gone. Signals that a terminal or a service manager sends to a whole group of
 * processes do not end it. `start` is called once, with the other end's settings; if it rejects, the process is unfit.
 */
export function serveCalls<Calls extends CallTable>(
  start: (settings: unknown, self: SelfReport, report: (value: unknown) => Promise<void>) => Promise<Handlers<Calls>>,
  channel: Channel = processChannel(),
): void {
  const send = (message: FromChild): Promise<void> => new Promise((resolve) => channel.send(message, () => resolve()));
  const running = new Map<number, AbortController>();
  const self: SelfReport = {};
  let handlers: Handlers<Calls> | null = null;
  /** The last notice that came before it could be heeded. */
  let early: { value: unknown } | null = null;

  const begin = async (settings: unknown): Promise<void> => {
    try {
      handlers = await start(settings, self, (value) => send({ kind: 'report', value }));
      if (early !== null) self.notice?.(early.value);
      await send({ kind: 'ready', value: self.info });
    } catch (error) {
      await send({ kind: 'unfit', error: toChannelError(error) });
    }
  };
  const end = async (message: Extract<FromChild, { kind: 'answer' | 'failure' }>): Promise<void> => {
    // Twice where an answer cannot be sent, and a failure is in its place.
    if (running.delete(message.id)) self.beforeAnswer?.();
    await send(message);
  };
  const answer = async (id: number, name: string, request: unknown): Promise<void> => {
    const call = new AbortController();
    running.set(id, call);
    self.beforeCall?.();
    try {
      const handler = handlers?.[name];
      if (handler === undefined) throw new Error(`There is no call "${name}".`);
      // After its end, the other end no longer knows the call.
      const progress = async (value: unknown): Promise<void> => {
        if (running.has(id)) await send({ kind: 'progress', id, value });
      };
      const value = await handler(request, { signal: call.signal, progress });
      await end({ kind: 'answer', id, value });
    } catch (error) {
      await end({ kind: 'failure', id, error: toChannelError(error) });
    }
  };

  channel.on('disconnect', () => channel.exit());
  channel.on('message', (message) => {
    if (message.kind === 'start') void begin(message.settings);
    else if (message.kind === 'call') void answer(message.id, message.name, message.request);
    else if (message.kind === 'notice') {
      if (handlers === null) early = { value: message.value };
      else self.notice?.(message.value);
    } else if (message.kind === 'abort') running.get(message.id)?.abort(aborted());
    else void send(pong(self));
  });
}

function pong({ overdue }: SelfReport): FromChild {
  const name = overdue?.() ?? null;
  return { kind: 'pong', ...(name === null ? {} : { overdue: name }) };
}

function aborted(): EngineError {
  return new EngineError('aborted', 'The call was aborted.');
}

/** To the process that has forked this one. */
export function processChannel(): Channel {
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
    send: (message, done) => writer.write(message, done),
    // Not exit(), which waits for threads of native code, or takes their memory from under them.
    exit: () => void process.kill(process.pid, 'SIGKILL'),
  };
}
