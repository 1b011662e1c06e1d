import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants, getPriority, setPriority } from 'node:os';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FrameReader, FrameWriter } from './frames.js';
import { isFromChild, type FromChild, type ToChild } from './messages.js';

/** A child process of this service that answers messages. */
export interface ChildProcessHandle {
  readonly pid: number | undefined;
  send(message: ToChild): void;
  /** Kills the process at once, even if it is stopped. */
  kill(): void;
}

export interface ChildEvents {
  /** `bytes`: the size of the message on the channel. */
  message(message: FromChild, bytes: number): void;
  /** Called once, as the last event. `how`: how the process ended, with the last lines of its standard error. */
  exit(how: string): void;
}

export type StartChild = (events: ChildEvents) => ChildProcessHandle;

export interface ForkOptions {
  /** The file that the child runs. It must call serveCalls(). */
  main: string;
  /** The child's whole environment. It contains no secrets of the service. */
  env: Readonly<Record<string, string>>;
  /** How much lower its priority is than this process's, in steps of nice(2). */
  niceness: number;
}

/** The largest message that a child may send. */
export const MOST_MESSAGE_BYTES = 32 * 2 ** 20;
/** The number of characters of standard error that are kept. MOST_WORDS: the number that the child may write in all. */
const LAST_WORDS = 2000;
const MOST_WORDS = 2 ** 24;

/**
 * Starts the command with a soft limit of 0 for core files; the shell then replaces itself with the command. prlimit(1)
 * can allow core files for a running process.
 */
const WITHOUT_CORE_FILE = ['-c', 'ulimit -S -c 0; exec "$@"', 'sh'];

/**
 * Flags of all processes, including the service's own. V8 gets one helper thread. Its default of four would take cores
 * from the computing threads at each garbage collection, and the event loop would wait for the last of them.
 */
export const NODE_FLAGS = ['--v8-pool-size=1'];

/**
 * Runs a file of this service in Node.js, with a channel. When memory is short, the kernel kills the child and its
 * children before the server.
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
    /** Kills the child for this reason. */
    const give = (reason: string): void => {
      why = reason;
      child.kill('SIGKILL');
    };
    const words = new LastWords(() => give('it wrote too much to its standard error'));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => words.add(text));
    // Threads may have started before the first call of lowerPriority(), so the first message repeats it.
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
      // If the channel is closed, `close` follows.
      send: (message) => writer?.write(message),
      kill: () => void child.kill('SIGKILL'),
    };
  };
}

/** null: no pipe could be opened, and the child has not started. */
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
  // An error of the channel ends the child, and its exit is reported.
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
 * Lowers the priority of all threads, because in Linux nice(2) acts on a thread. Later threads inherit it. A thread
 * with a lower priority, such as a computing thread, keeps it.
 */
export function lowerPriority(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return;
  const wanted = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW);
  for (const thread of threadsOf(pid)) {
    try {
      if (getPriority(Number(thread)) < wanted) setPriority(Number(thread), wanted);
    } catch {
      // The thread has ended.
    }
  }
}

/** Of at most 1000. A process with a higher value is killed first when memory is short. */
const EXPENDABLE = '500';

function makeExpendable(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, EXPENDABLE);
  } catch {
    // The process has ended, or this system does not allow the change.
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Started from TypeScript sources (in tests, with tsx), a child needs the same loader as its parent. */
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
