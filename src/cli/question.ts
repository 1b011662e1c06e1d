import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Whether there is somebody to answer, and a place to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on the terminal; all but "y" and "yes" is a no. Rejects when the signal aborts. */
export async function confirmed(question: string, signal: AbortSignal): Promise<boolean> {
  // The terminal keeps its mode: Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  process.stderr.write(`${question} [y/N] `);
  try {
    const answered = once(lines, 'line', { signal }).then(([line]) => String(line));
    const ended = once(lines, 'close', { signal }).then(() => '');
    return /^\s*y(es)?\s*$/i.test(await Promise.race([answered, ended]));
  } finally {
    lines.close();
  }
}
