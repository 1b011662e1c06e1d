import { setMaxListeners } from 'node:events';

/**
 * On Ctrl-C or SIGTERM, aborts `work` and lets it clean up. Then raises the signal again, so that the calling process
 * sees how the command ended. A second signal ends the command at once.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  // `work` may add any number of listeners. Node.js warns at eleven, and Node.js 20 fails for a signal with limit 0.
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
