/** The child's side of the channel. */
import { Socket } from 'node:net';
import { EngineError, nativeErrorCode } from '../native-errors.js';
import { toChannelError } from './channel-errors.js';
import { FrameReader, FrameWriter } from './frames.js';
import { CHANNEL_FD, type CallTable, type FromChild, type ToChild } from './messages.js';

export interface CallContext<Progress> {
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Resolves when the channel has taken the value. A handler that awaits it does not overfill the channel's buffer. */
  progress: (value: Progress) => Promise<void>;
}

export type Handlers<Calls extends CallTable> = {
  [Name in keyof Calls]: (
    request: Calls[Name]['request'],
    context: CallContext<Calls[Name]['progress']>,
  ) => Promise<Calls[Name]['answer']>;
};

/** What a child reports about itself, apart from answers. */
export interface SelfReport {
  /** Sent with `ready`. */
  info?: unknown;
  /** The native call that has run for longer than allowed; null: none. Called at each ping. */
  overdue?: () => string | null;
  /** Called with each notice. Of the notices that came before the child was ready, it gets only the last. */
  notice?: (value: unknown) => void;
  /** Called when a call arrives. */
  beforeCall?: () => void;
  /** Called before every answer and failure. */
  beforeAnswer?: () => void;
}

/** The connection to the process that sends calls. */
export interface Channel {
  on(event: 'message', listener: (message: ToChild) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  send(message: FromChild, done: (error: Error | null) => void): void;
  exit(): void;
}

/**
 * Answers calls until the other side closes the channel. Signals that a terminal or a service manager sends to a whole
 * group of processes do not end the child. `start` is called once, with the other side's settings. If it rejects, the
 * process is unfit.
 */
export function serveCalls<Calls extends CallTable>(
  start: (settings: unknown, self: SelfReport, report: (value: unknown) => Promise<void>) => Promise<Handlers<Calls>>,
  channel: Channel = processChannel(),
): void {
  const send = (message: FromChild): Promise<void> => new Promise((resolve) => channel.send(message, () => resolve()));
  const running = new Map<number, AbortController>();
  const self: SelfReport = {};
  let handlers: Handlers<Calls> | null = null;
  /** The last notice that came before the handlers were ready. */
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
    // end() runs twice if an answer cannot be sent: then a failure is sent instead.
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
      // After the call's end, the other side no longer knows the call.
      const progress = async (value: unknown): Promise<void> => {
        if (running.has(id)) await send({ kind: 'progress', id, value });
      };
      const value = await handler(request, { signal: call.signal, progress });
      await end({ kind: 'answer', id, value });
    } catch (error) {
      if (nativeErrorCode(error) === 'device_lost') endOfDevice(error as Error, channel);
      else await end({ kind: 'failure', id, error: toChannelError(error) });
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

/** Nothing in this process can use the device again: it ends, and its calls are repeated in another. */
function endOfDevice({ message }: Error, channel: Pick<Channel, 'exit'>): void {
  process.stderr.write(`${message}\n`);
  channel.exit();
}

function pong({ overdue }: SelfReport): FromChild {
  const name = overdue?.() ?? null;
  return { kind: 'pong', ...(name === null ? {} : { overdue: name }) };
}

function aborted(): EngineError {
  return new EngineError('aborted', 'The call was aborted.');
}

/** The channel to the parent process. */
export function processChannel(): Channel {
  const socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  // The parent has ended: `close` follows.
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
    // Not process.exit(), which would wait for native threads or free memory that they still use.
    exit: () => void process.kill(process.pid, 'SIGKILL'),
  };
}
