import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Whether standard input and standard error are terminals. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on the terminal. Any answer except "y" and "yes" means no. Rejects when the signal aborts. */
export async function confirmed(question: string, signal: AbortSignal): Promise<boolean> {
  // Leaves the terminal's mode alone, so that Ctrl-C still sends a signal.
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
