/**
 * The speech model that `verbatim models use` has chosen. It is stored in the data directory for the next start of a
 * server.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.js';
import { ownCommand } from '../package-root.js';

const FILE = 'model.json';

export function chosenModelPath(dataDir: string): string {
  return join(dataDir, FILE);
}

/** null: none was chosen. Throws an Error that names the file if its content is malformed. */
export function readChosenModel(dataDir: string): string | null {
  const path = chosenModelPath(dataDir);
  if (!existsSync(path)) return null;
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    value = null;
  }
  const { name } = (value ?? {}) as { name?: unknown };
  if (typeof name === 'string' && name !== '') return name;
  throw new SetupError(
    `${path} names no model. Remove it, or name the model in VERBATIM_MODEL or with: ${ownCommand} models use NAME`,
  );
}

/** Written completely or not at all. */
export function writeChosenModel(dataDir: string, name: string): void {
  const path = chosenModelPath(dataDir);
  const chosen = { name, chosenAt: new Date().toISOString() };
  writeFileSync(`${path}.new`, `${JSON.stringify(chosen, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
