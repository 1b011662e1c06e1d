/** A child process for tests: does what a call says, and can be made to die of it. */
import { readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { EngineError } from '../../../src/engine/native-errors.js';
import { CHANNEL_FD } from '../../../src/engine/process/messages.js';
import { serveCalls } from '../../../src/engine/process/serve-calls.js';

export type WorkerCalls = {
  echo: { request: unknown; progress: number; answer: unknown };
  /** Dies, but only once: `once` is a file that it leaves behind. */
  die: { request: { once?: string; how: 'exit' | 'abort' | 'throw' }; progress: never; answer: string };
  /** Until it is aborted. */
  wait: { request: null; progress: string; answer: never };
  fail: { request: null; progress: never; answer: never };
  environment: { request: null; progress: never; answer: string[] };
  /** Of nice(2), of each of its threads. */
  priorities: { request: null; progress: never; answer: number[] };
  options: { request: null; progress: never; answer: string[] };
  /** What no child of ours says: these bytes, in place of a message. */
  gibberish: { request: number[]; progress: never; answer: never };
  answerOf: { request: { bytes: number }; progress: never; answer: string };
  /** Without end, as fast as it can. */
  chatter: { request: { bytes: number }; progress: string; answer: never };
  scream: { request: null; progress: never; answer: never };
};

/** See proc(5), field 19 of stat. */
function priorityOf(task: string): number {
  const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
}

/** As native code does it that computes. */
function lowerOneThread(): void {
  const [, thread] = readdirSync('/proc/self/task');
  setPriority(Number(thread), constants.priority.PRIORITY_LOW);
}

function die(how: 'exit' | 'abort' | 'throw'): void {
  if (how === 'exit') process.exit(3);
  if (how === 'abort') process.abort();
  setImmediate(() => {
    throw new Error('thrown where nobody catches it');
  });
}

serveCalls<WorkerCalls>((settings) => {
  if (settings === 'low') lowerOneThread();
  if (settings === 'unfit') throw new EngineError('invalid_model', 'No worker can be made of this.');
  return Promise.resolve({
    echo: async (request, { progress }) => {
      await progress(0.5);
      return request;
    },
    die: async ({ once, how }) => {
      try {
        if (once !== undefined) writeFileSync(once, '', { flag: 'wx' });
      } catch {
        return 'lived';
      }
      die(how);
      return new Promise<string>(() => undefined);
    },
    wait: async (_request, { signal, progress }) => {
      await progress('begun');
      return new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    },
    fail: () => Promise.reject(new EngineError('invalid_audio', 'The audio is cut.')),
    environment: () => Promise.resolve(Object.keys(process.env)),
    priorities: () => Promise.resolve(readdirSync('/proc/self/task').map(priorityOf)),
    options: () => Promise.resolve(process.execArgv),
    gibberish: (bytes) => {
      writeSync(CHANNEL_FD, Uint8Array.from(bytes));
      return new Promise<never>(() => undefined);
    },
    answerOf: ({ bytes }) => Promise.resolve('x'.repeat(bytes)),
    chatter: async ({ bytes }, { progress }) => {
      for (;;) await progress('x'.repeat(bytes));
    },
    scream: async () => {
      const scream = 'a'.repeat(2 ** 16);
      for (;;) await new Promise<void>((resolve) => process.stderr.write(scream, () => resolve()));
    },
  });
});
