import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ModelRefused } from '../errors.js';
import { readContext } from '../service/context.js';
import { ServerAtWork } from '../service/running-server.js';
import { printable } from './printable.js';
import { printRow } from './rows.js';

const LOOK_MS = 200;

export function addUse(models: Command): void {
  models
    .command('use')
    .argument('<name>', 'an installed speech model')
    .option('--json', 'print JSON')
    .description(
      'change the speech model of the running server: the new one is loaded and checked first, and no ' +
        'request is lost',
    )
    .action(useModel);
}

/** Returns when the model serves. The previous model may still be finishing requests. */
async function useModel(name: string, { json }: { json?: boolean }): Promise<void> {
  const server = await ServerAtWork.find(readContext().config);
  const { serving: before } = await server.state();
  let state = await server.use(name);
  while (state.serving !== name) {
    if (state.change === null)
      throw new ModelRefused(`"${before}" serves on. ${state.last?.error ?? 'The change was given up.'}`);
    await sleep(LOOK_MS);
    state = await server.state();
  }
  const { serving, afterRestart } = state;
  if (json === true) printRow({ serving, before, after_restart: afterRestart }, true);
  else console.log(printable(outcomeText(serving, before, afterRestart)));
}

function outcomeText(serving: string, before: string, afterRestart: string): string {
  const kept = afterRestart === serving ? 'also after a restart' : 'until the server is started again';
  const named = afterRestart === serving ? '' : `: its VERBATIM_MODEL is ${afterRestart}`;
  return `${serving} has replaced ${before}, ${kept}${named}`;
}
