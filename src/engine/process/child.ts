import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isFromChild, type FromChild, type ToChild } from './messages.js';

/** A process of ours that answers messages. */
export interface ChildProcessHandle {
  readonly pid: number | undefined;
  send(message: ToChild): void;
  /** At once, whatever it does, stopped or not. */
  kill(): void;
}

export interface ChildEvents {
  message(message: FromChild): void;
  /** Once, last: with how it ended, and what it wrote to its standard error last. */
  exit(how: string): void;
}

export type StartChild = (events: ChildEvents) => ChildProcessHandle;

export interface ForkOptions {
  /** The file that it runs, which calls serveCalls(). */
  main: string;
  /** All that it sees of an environment: no secret of the service's. */
  env: Readonly<Record<string, string>>;
}

/** Characters of its standard error that are kept. */
const LAST_WORDS = 2000;

/** Node on a file of ours, with a channel. */
export function forking({ main, env }: ForkOptions): StartChild {
  return (events) => {
    const child = fork(main, [], {
      execArgv: loaderFor(main),
      env: { ...env },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let words = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-LAST_WORDS);
    });
    child.on('message', (value) => {
      // Whatever else it says shows that it has gone wrong.
      if (isFromChild(value)) events.message(value);
      else child.kill('SIGKILL');
    });
    const exited = onlyOnce((how) => events.exit(how));
    child.on('error', (error) => exited(error.message));
    child.on('close', (code, signal) => exited(`${signal ?? `exit code ${code ?? '?'}`} ${words}`.trim()));
    return {
      pid: child.pid,
      // A channel that is closed already is followed by `close`.
      send: (value) => {
        if (child.connected) child.send(value, () => undefined);
      },
      kill: () => void child.kill('SIGKILL'),
    };
  };
}

/** From the sources (tests, tsx) a child needs the loader that its parent has, wherever it is started. */
function loaderFor(main: string): string[] {
  return extname(main) === '.ts' ? ['--import', pathToFileURL(require.resolve('tsx')).href] : [];
}

function onlyOnce(call: (how: string) => void): (how: string) => void {
  let called = false;
  return (how) => {
    if (called) return;
    called = true;
    call(how);
  };
}
