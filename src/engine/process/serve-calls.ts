/** The child's end of the channel. */
import { Socket } from 'node:net';
import { toEngineError, EngineError } from '../native-errors.js';
import { FrameReader, frameOf } from './frames.js';
import { CHANNEL_FD, type CallTable, type FromChild, type ToChild, type ToldError } from './messages.js';

export interface CallContext<Progress> {
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Resolves when the channel has taken it, so that who waits for that never fills it. */
  progress: (value: Progress) => Promise<void>;
}

export type Handlers<Calls extends CallTable> = {
  [Name in keyof Calls]: (
    request: Calls[Name]['request'],
    context: CallContext<Calls[Name]['progress']>,
  ) => Promise<Calls[Name]['answer']>;
};

/** The way to the process that asks. */
export interface Channel {
  on(event: 'message', listener: (message: ToChild) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  send(message: FromChild, done: (error: Error | null) => void): void;
  exit(): void;
}

/**
 * Answers calls until the other end is gone. `start` makes ready, once, by settings that are the other end's to choose; what it
 * rejects with is told as being unfit for good.
 */
export function serveCalls<Calls extends CallTable>(
  start: (settings: unknown) => Promise<Handlers<Calls>>,
  channel: Channel = processChannel(),
): void {
  const tell = (message: FromChild): Promise<void> =>
    new Promise((resolve) => channel.send(message, () => resolve()));
  const running = new Map<number, AbortController>();
  let handlers: Handlers<Calls> | null = null;

  const begin = async (settings: unknown): Promise<void> => {
    try {
      handlers = await start(settings);
      await tell({ kind: 'ready' });
    } catch (error) {
      await tell({ kind: 'unfit', error: told(error) });
    }
  };
  const answer = async (id: number, name: string, request: unknown): Promise<void> => {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const handler = handlers?.[name];
      if (handler === undefined) throw new Error(`There is no call "${name}".`);
      const progress = (value: unknown): Promise<void> => tell({ kind: 'progress', id, value });
      const value = await handler(request, { signal: abort.signal, progress });
      await tell({ kind: 'answer', id, value });
    } catch (error) {
      await tell({ kind: 'failure', id, error: told(error) });
    } finally {
      running.delete(id);
    }
  };

  channel.on('disconnect', () => channel.exit());
  channel.on('message', (message) => {
    if (message.kind === 'start') void begin(message.settings);
    else if (message.kind === 'call') void answer(message.id, message.name, message.request);
    else if (message.kind === 'abort') running.get(message.id)?.abort(aborted());
    else void tell({ kind: 'pong' });
  });
}

function aborted(): EngineError {
  return new EngineError('aborted', 'The call was aborted.');
}

function told(error: unknown): ToldError {
  const known = toEngineError(error);
  if (known instanceof EngineError) return { code: known.code, message: known.message };
  return { code: 'internal_error', message: error instanceof Error ? error.message : String(error) };
}

function processChannel(): Channel {
  const socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  // A parent that is gone: `close` follows.
  socket.on('error', () => undefined);
  return {
    on: (event: 'message' | 'disconnect', listener: (message: ToChild) => void) => {
      if (event === 'disconnect') return socket.on('close', listener as () => void);
      const frames = new FrameReader(Infinity);
      return socket.on('data', (piece) => {
        for (const { value } of frames.push(piece)) listener(value as ToChild);
      });
    },
    send: (message, done) => {
      if (socket.writable) socket.write(frameOf(message), (error) => done(error ?? null));
      else done(null);
    },
    exit: () => process.exit(),
  };
}
