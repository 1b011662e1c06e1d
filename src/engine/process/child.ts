import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FrameReader, FrameWriter } from './frames.js';
import { isFromChild, type FromChild, type ToChild } from './messages.js';

/** A process of ours that answers messages. */
export interface ChildProcessHandle {
  readonly pid: number | undefined;
  send(message: ToChild): void;
  /** At once, whatever it does, stopped or not. */
  kill(): void;
}

export interface ChildEvents {
  /** With the bytes that it came in. */
  message(message: FromChild, bytes: number): void;
  /** Called once, last. `how`: how it ended, with the last lines of its standard error. */
  exit(how: string): void;
}

export type StartChild = (events: ChildEvents) => ChildProcessHandle;

export interface ForkOptions {
  /** The file that it runs, which calls serveCalls(). */
  main: string;
  /** All that it sees of an environment: no secret of the service's. */
  env: Readonly<Record<string, string>>;
  /** How much lower its priority is than this process's, in steps of nice(2). */
  niceness: number;
}

/** Of one message of a child's. */
export const MOST_MESSAGE_BYTES = 32 * 2 ** 20;
/** Characters of its standard error that are kept, and that it may write at all. */
const LAST_WORDS = 2000;
const MOST_WORDS = 2 ** 24;

/**
 * The shell replaces itself with the command, under a soft limit of no core file. prlimit(1) can allow a running
 * process one.
 */
const WITHOUT_CORE_FILE = ['-c', 'ulimit -S -c 0; exec "$@"', 'sh'];

/**
 * Flags of all our processes, the service's own too. V8 gets one helper thread. Its default of four would take cores
 * from the computing threads at each garbage collection, and the event loop would wait for the last of them.
 */
export const NODE_FLAGS = ['--v8-pool-size=1'];

/**
 * Node on a file of ours, with a channel. When memory is short, the kernel ends this process and its children before
 * the server.
 */
export function forking({ main, env, niceness }: ForkOptions): StartChild {
  return (events) => {
    const command = [process.execPath, ...NODE_FLAGS, ...loaderFor(main), main];
    const child = spawn('/bin/sh', [...WITHOUT_CORE_FILE, ...command], {
      env: { ...env },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    });
    lowerPriority(child.pid, niceness);
    makeExpendable(child.pid);
    let why = '';
    /** It has gone wrong. */
    const give = (reason: string): void => {
      why = reason;
      child.kill('SIGKILL');
    };
    const words = new LastWords(() => give('it wrote too much to its standard error'));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => words.add(text));
    // Some of its threads may have begun before the first time.
    const lowerOnce = onlyOnce(() => lowerPriority(child.pid, niceness));
    const channel = channelOf(
      child,
      (message, bytes) => {
        lowerOnce();
        events.message(message, bytes);
      },
      give,
    );
    const writer = channel === null ? null : new FrameWriter(channel);
    const exited = onlyOnce((how: string) => events.exit(how));
    child.on('error', (error) => exited(error.message));
    child.on('close', (code, signal) =>
      exited([signal ?? `exit code ${code ?? '?'}`, why, words.text].filter(Boolean).join(' ').trim()),
    );
    return {
      pid: child.pid,
      // A channel that is closed already is followed by `close`.
      send: (message) => writer?.write(message),
      kill: () => void child.kill('SIGKILL'),
    };
  };
}

/** Null where nothing could be opened for the child, which then has not started. */
function channelOf(
  child: ChildProcess,
  receive: ChildEvents['message'],
  give: (reason: string) => void,
): Socket | null {
  const [, , , channel = null] = (child.stdio as (Socket | null)[] | undefined) ?? [];
  const frames = new FrameReader(MOST_MESSAGE_BYTES);
  const read = (piece: Buffer): void => {
    for (const { value, bytes } of framesIn(piece)) receive(value, bytes);
  };
  const framesIn = (piece: Buffer): { value: FromChild; bytes: number }[] => {
    try {
      return frames.push(piece).map(({ value, bytes }) => ({ value: messageOf(value), bytes }));
    } catch (error) {
      channel?.off('data', read).resume();
      give(`it sent ${(error as Error).message}`);
      return [];
    }
  };
  // An error of the channel ends the child; its exit is then reported.
  return channel?.on('data', read).on('error', () => undefined) ?? null;
}

function messageOf(value: unknown): FromChild {
  if (isFromChild(value)) return value;
  throw new Error('a message that is none');
}

class LastWords {
  text = '';
  #characters = 0;

  constructor(private readonly tooMany: () => void) {}

  add(text: string): void {
    this.text = (this.text + text).slice(-LAST_WORDS);
    this.#characters += text.length;
    if (this.#characters > MOST_WORDS) this.tooMany();
  }
}

/**
 * Of all its threads, since nice(2) is a thread's in Linux; those that come later inherit it. What is lower yet stays,
 * as what computes is.
 */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  const wanted = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW);
  for (const thread of threadsOf(pid)) {
    try {
      if (getPriority(Number(thread)) < wanted) setPriority(Number(thread), wanted);
    } catch {
      // It has ended since.
    }
  }
}

/** Of up to 1000. */
const EXPENDABLE = '500';

function makeExpendable(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, EXPENDABLE);
  } catch {
    // It has ended since, or this is no place where one may say so.
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** From the sources (tests, tsx) a child needs the loader that its parent has, wherever it is started. */
function loaderFor(main: string): string[] {
  return extname(main) === '.ts' ? ['--import', pathToFileURL(require.resolve('tsx')).href] : [];
}

function onlyOnce<A extends unknown[]>(call: (...how: A) => void): (...how: A) => void {
  let called = false;
  return (...how) => {
    if (called) return;
    called = true;
    call(...how);
  };
}
