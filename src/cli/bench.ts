/** `verbatim bench`. Its commands are in a separate package, which a machine that only serves does not need. */
import { extname, join } from 'node:path';
import type { Command } from 'commander';

export const BENCH_PACKAGE = '@verbatim/bench';

interface Harness {
  addBenchCommands(bench: Command): void;
}

/**
 * Loads the package only when a bench command was typed, so that other commands start without it. `bench` is hidden
 * from the help: it is meant for tuning a machine.
 */
export async function addBench(program: Command, argv: readonly string[]): Promise<void> {
  const bench = program
    .command('bench', { hidden: true })
    .description('measure this machine: engine, server, settings, peers; every report says how it was made');
  const [, , first, second] = argv;
  if (first === 'bench' || (first === 'help' && second === 'bench')) (await loadHarness()).addBenchCommands(bench);
}

async function loadHarness(directory = join(__dirname, '..', '..', 'bench')): Promise<Harness> {
  try {
    return (await import(join(directory, `index${extname(__filename)}`))) as Harness;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `The benchmarks are the package ${BENCH_PACKAGE}, which is not installed or not built here. Run: ./setup`,
      { cause: error },
    );
  }
}
