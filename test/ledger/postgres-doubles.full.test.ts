/** Whatever `npm test` holds of the ledger's interface on SQLite, on PostgreSQL: the same files, declared once more. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onPostgres } from './backends.js';

const shared = readdirSync(__dirname)
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.full.test.ts'))
  .map((name) => join(__dirname, name))
  .filter((path) => readFileSync(path, 'utf8').includes("describeLedger('"));

onPostgres(() => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- they are declared here and now
  for (const path of shared) require(path);
});
