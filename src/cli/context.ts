/** What commands share: where the package lies, the configuration, and printing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, type Config } from '../config.js';
import { openLedger } from '../ledger/ledger.js';
import type { Account, Ledger } from '../ledger/types.js';
import { readManifest, type Manifest } from '../models/manifest.js';
import type { StoreRoots } from '../models/store.js';

export const packageRoot = join(__dirname, '..', '..');

export function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;
}

export interface CliContext {
  config: Config;
  roots: StoreRoots;
  manifest: Manifest;
}

export function cliContext(): CliContext {
  const config = readConfig(process.env, packageRoot);
  const roots = { packageRoot, modelsDir: config.modelsDir };
  return { config, roots, manifest: readManifest(packageRoot, config.modelsDir) };
}

type Cell = string | number | null | readonly string[];

/** JSON for programs, an aligned table for people. */
export function printRows(rows: readonly Record<string, Cell>[], json: boolean): void {
  if (json) {
    console.log(JSON.stringify(rows, null, 2));
    return;
  }
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const lines = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '-')))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? '').length)));
  for (const line of lines) {
    console.log(
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** Opens the books beside a running server, and closes them whatever happens. */
export function withLedger(work: (ledger: Ledger) => void): void {
  const config = readConfig(process.env, packageRoot);
  const ledger = openLedger({ path: config.database, secret: config.secret });
  try {
    work(ledger);
  } finally {
    ledger.close();
  }
}

export function accountByEmail(ledger: Ledger, email: string): Account {
  const account = ledger.findAccount(email);
  if (account === null) throw new Error(`There is no account with the e-mail address "${email}".`);
  return account;
}
