import type { Command } from 'commander';
import { readContext } from '../service/context.js';
import { ServerAtWork, type ServerModels } from '../service/running-server.js';
import { printRow } from './rows.js';

export function addStatus(models: Command): void {
  models
    .command('status')
    .option('--json', 'print JSON')
    .description('print the speech model that the running server uses, and the one that will replace it')
    .action(printStatus);
}

async function printStatus({ json = false }: { json?: boolean }): Promise<void> {
  const server = await ServerAtWork.find(readContext().config);
  printRow(rowOf(await server.state()), json);
}

function rowOf({ serving, since, afterRestart, change, last, automatic }: ServerModels) {
  const search = automatic === null || automatic.phase === 'ended' ? null : automatic;
  return {
    serving,
    since: new Date(since).toISOString(),
    after_restart: afterRestart,
    next: change?.to ?? search?.model ?? null,
    phase: change?.phase ?? search?.phase ?? null,
    problem: automatic?.problem ?? last?.error ?? null,
  };
}
