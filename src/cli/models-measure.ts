import type { Command } from 'commander';
import { CANDIDATES, LEAST_SPEED, type Candidate } from '../models/automatic-model.js';
import { readContext } from '../service/context.js';
import { measureMachine, measureModels } from '../service/automatic-model/measure-machine.js';
import { untilInterrupted } from './interruption.js';
import { UsageError } from '../service/variables.js';
import { printRows } from './rows.js';

export function addMeasure(models: Command): void {
  models
    .command('measure')
    .argument(
      '[names...]',
      'published models (default: base, then larger ones while the machine is fast enough for them)',
    )
    .option('--json', 'print JSON')
    .description('measure how fast this machine transcribes with published models; nothing is downloaded')
    .action(measure);
}

async function measure(names: readonly string[], { json = false }: { json?: boolean }): Promise<void> {
  const candidates = names.map(candidateOf);
  const onMeasured = (model: string): void => {
    if (!json && process.stderr.isTTY) console.error(`${model} is measured`);
  };
  const speeds = await untilInterrupted((signal) =>
    candidates.length === 0
      ? measureMachine(readContext(), { signal, onMeasured })
      : measureModels(candidates, readContext(), { signal, onMeasured }),
  );
  const rows = Object.entries(speeds).map(([name, speed]) => ({
    name,
    times_real_time: Number(speed.toFixed(1)),
    fast_enough: speed >= LEAST_SPEED ? 'yes' : 'no',
  }));
  printRows(rows, json, 'There is not enough free memory to measure any model.');
}

function candidateOf(name: string): Candidate {
  const found = CANDIDATES.find(({ model }) => model === name);
  if (found !== undefined) return found;
  throw new UsageError(`"${name}" is not measured; allowed: ${CANDIDATES.map(({ model }) => model).join(', ')}.`);
}
