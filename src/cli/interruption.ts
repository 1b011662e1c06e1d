import { setMaxListeners } from 'node:events';

/**
 * Ctrl-C and SIGTERM: `work` is aborted and cleans up; then the signal is raised once more, so that
 * whoever started the command sees how it ended. A second one ends it at once.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  // Any amount of work may listen. Node.js warns about eleven listeners, and Node.js 20 fails when it is asked about
  // a signal whose limit is 0.
  setMaxListeners(Number.MAX_SAFE_INTEGER, controller.signal);
  const raised: NodeJS.Signals[] = [];
  const stop = (signal: NodeJS.Signals): void => {
    raised.push(signal);
    ignore();
    controller.abort(new Error('Stopped.'));
  };
  const ignore = (): void => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    return await work(controller.signal);
  } finally {
    ignore();
    for (const signal of raised) process.kill(process.pid, signal);
  }
}
