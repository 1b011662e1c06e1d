/** Runs a command of this program in a separate process, with the lowest priority. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Variable } from './variables.js';

/**
 * The child sees only `settings` of the service's variables, so it gets no secret. Standard output and error are pipes.
 */
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

/** The characters of standard error that are kept. No message of the command line is longer. */
const KEPT_CHARACTERS = 2000;

/**
 * Reads what a command writes to its standard error. Call the returned function after the command has ended: it returns
 * the last line, which says why the command failed. null: nothing was written.
 */
export function lastError(child: ChildProcess): () => string | null {
  let written = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written = (written + text).slice(-KEPT_CHARACTERS);
  });
  // A process that could not be started only reports an error.
  child.on('error', ({ message }) => (written += `\n${message}`));
  return () => {
    const last = written.trim().split('\n').at(-1) ?? '';
    return last === '' ? null : last.replace(/^verbatim: /, '');
  };
}
