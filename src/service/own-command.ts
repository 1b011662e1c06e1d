/** A command of this program, in a process of its own and behind everything else that the machine does. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Variable } from './variables.js';

/** Of the service's settings it sees `settings`, and so nothing secret; standard output and error are pipes. */
export function startOwnCommand(
  words: readonly string[],
  settings: Readonly<Partial<Record<Variable, string>>>,
): ChildProcess {
  const own = extname(__filename);
  const loader = own === '.ts' ? ['--import', pathToFileURL(require.resolve('tsx')).href] : [];
  const main = join(__dirname, '..', `main${own}`);
  const others = Object.entries(process.env).filter(([variable]) => !variable.startsWith('VERBATIM_'));
  const child = spawn(process.execPath, [...loader, main, ...words], {
    env: { ...Object.fromEntries(others), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}

/** Characters of standard error: more than any of the command line's messages has. */
const KEPT_CHARACTERS = 2000;

/**
 * Follows what a command writes to its standard error; the function that it returns is for when the command has ended:
 * its last line, which says why it failed; null where it wrote none.
 */
export function lastError(child: ChildProcess): () => string | null {
  let written = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written = (written + text).slice(-KEPT_CHARACTERS);
  });
  // Of one that could not be started there is an error and no more.
  child.on('error', ({ message }) => (written += `\n${message}`));
  return () => {
    const last = written.trim().split('\n').at(-1) ?? '';
    return last === '' ? null : last.replace(/^verbatim: /, '');
  };
}
