import type { Command } from 'commander';
import { integerFrom } from '../../src/cli/options.js';
import { checkPostgres, withoutPassword } from '../../src/service/database-address.js';
import { KEPT_AT_ONCE, measureLibrary, type LibraryMeasurement } from '../load/library.js';
import { openLedgerOf } from '../load/ledger-nodes.js';
import { rounded, type Table } from '../reports/report.js';
import { onLedger } from './ledger.js';
import { addOutputOptions, benchContext, progress, publish, type OutputOptions } from './setup.js';

interface Options extends OutputOptions {
  database?: string;
  transcripts: number;
  searches: number;
}

/** Milliseconds, of the slowest twentieth of the searches. */
const GOAL = 100;

export function addBenchLibrary(bench: Command): void {
  const command = bench
    .command('library')
    .description('how long a search takes among many kept transcripts of 300 words')
    .option(
      '--database <address>',
      'postgres://… of a database without accounts, which keeps those made there (default: SQLite, in a temporary ' +
        'directory)',
    )
    .option('--transcripts <n>', 'that are kept, of five accounts', integerFrom(5), 100_000)
    .option('--searches <n>', 'of each kind', integerFrom(1), 100);
  addOutputOptions(command).action((options: Options) => benchLibrary(options));
}

async function benchLibrary(options: Options): Promise<void> {
  const { transcripts, searches, database = null } = options;
  if (database !== null) checkPostgres(database, '--database');
  const { environment } = benchContext();
  const measured = await onLedger(database, async (address) => {
    const ledger = await openLedgerOf(address, KEPT_AT_ONCE);
    try {
      return await measureLibrary(ledger, { transcripts, searches, onProgress: progress });
    } finally {
      await ledger.close();
    }
  });
  const { keptPerSecond, deletions } = measured;
  publish(
    {
      name: 'library',
      title: 'The search of kept transcripts',
      environment,
      models: [],
      settings: { database: database === null ? 'SQLite' : withoutPassword(database), transcripts },
      warmUp: 'three searches of each kind',
      runs: searches,
      tables: [tableOf(measured)],
      charts: [],
      notes: [
        `Goal: p95 at most ${GOAL} ms. One account has six tenths of the transcripts, four have the others; a small ` +
          'account is one of these. Words come as often as Zipf has it, of a vocabulary of 50,000; a page has 20 hits.',
        `Kept: ${Math.round(keptPerSecond)} a second by ${KEPT_AT_ONCE} callers. Deleted: p50 ` +
          `${rounded(deletions.p50)} ms, p95 ${rounded(deletions.p95)} ms, one after the other.`,
      ],
      measurements: measured,
    },
    options,
  );
}

function tableOf({ searches }: LibraryMeasurement): Table {
  const rows = searches.map(({ account, kind, p50, p95, most, found }) => ({
    ...{ account, search: kind, 'with hits': found },
    ...{ 'p50, ms': rounded(p50), 'p95, ms': rounded(p95), 'most, ms': rounded(most) },
  }));
  return { title: 'Searches', rows };
}
