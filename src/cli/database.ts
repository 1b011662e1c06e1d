import type { Command } from 'commander';
import { backUpDatabase, copyDatabase, restoreDatabase } from '../service/administered-ledger.js';
import { printable, printableLines } from './printable.js';

export function addDatabase(program: Command): void {
  const database = program.command('database').description('back up, restore and move the ledger');
  database
    .command('backup')
    .argument('<file>', 'file to write; an existing file is never overwritten')
    .option('--json', 'print JSON')
    .description('copy database and key secret to FILE and FILE.secret, also while the server runs')
    .action((file: string, options: { json?: boolean }) => {
      const backup = backUpDatabase(file);
      const beside = backup.secret === null ? '' : ` and ${backup.secret}`;
      print(backup, `wrote ${backup.file}${beside} (${backup.bytes} bytes)`, options);
    });
  database
    .command('restore')
    .argument('<file>', 'a backup')
    .option('--json', 'print JSON')
    .description('replace the database with a backup; the old database is kept; stop its servers first')
    .action((file: string, options: { json?: boolean }) => {
      const restored = restoreDatabase(file);
      const kept = restored.before === null ? '' : `; what was there before is ${restored.before}`;
      print(restored, `restored ${restored.database}${kept}`, options);
    });
  database
    .command('copy')
    .requiredOption('--from <file>', 'database of a stopped server')
    .requiredOption('--to <address>', 'postgres://… of a database without accounts')
    .option('--json', 'print JSON')
    .description('copy the whole ledger from SQLite to PostgreSQL, and audit it on both sides')
    .action(async (options: { from: string; to: string; json?: boolean }) => {
      const copied = await copyDatabase(options.from, options.to);
      const { accounts = 0, usage_events: charges = 0, jobs = 0 } = copied.rows;
      print(copied, `copied ${accounts} accounts, ${charges} charges and ${jobs} jobs; both ledgers balance`, options);
    });
}

function print(result: object, text: string, { json }: { json?: boolean }): void {
  console.log(json === true ? printableLines(JSON.stringify(result, null, 2)) : printable(text));
}
