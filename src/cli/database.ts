import type { Command } from 'commander';
import { backUpBooks, restoreBooks } from '../service/books.js';
import { printable, printableLines } from './printable.js';

export function addDatabase(program: Command): void {
  const database = program.command('database').description('back up and restore the books');
  database
    .command('backup')
    .argument('<file>', 'the copy to make; nothing is overwritten')
    .option('--json', 'print JSON')
    .description('copy database and key secret to FILE and FILE.secret, also while the server runs')
    .action((file: string, options: { json?: boolean }) => {
      const backup = backUpBooks(file);
      const beside = backup.secret === null ? '' : ` and ${backup.secret}`;
      print(backup, `wrote ${backup.file}${beside} (${backup.bytes} bytes)`, options);
    });
  database
    .command('restore')
    .argument('<file>', 'a backup')
    .option('--json', 'print JSON')
    .description('put a backup in the place of the database, which is kept; no server may run on it')
    .action((file: string, options: { json?: boolean }) => {
      const restored = restoreBooks(file);
      const kept = restored.before === null ? '' : `; what was there before is ${restored.before}`;
      print(restored, `restored ${restored.database}${kept}`, options);
    });
}

function print(result: object, text: string, { json }: { json?: boolean }): void {
  console.log(json === true ? printableLines(JSON.stringify(result, null, 2)) : printable(text));
}
