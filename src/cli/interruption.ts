import { setMaxListeners } from 'node:events';

/**
 * Ctrl-C and SIGTERM: `work` is told to end and puts its things away; then the signal is raised once more, so that whoever
 * started the command sees how it ended. A second one ends it at once.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  // As much work as there is hears of it; Node.js warns of eleven listeners, and 20 fails when it is asked about a signal with 0.
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
