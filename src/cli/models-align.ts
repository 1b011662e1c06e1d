import type { Command } from 'commander';
import type { AttentionHead } from '../engine/binding.js';
import type { MeasuredHeads } from '../models/alignment/head-selection.js';
import { TIMED_CLIPS } from '../models/alignment/timed-clips.js';
import { readContext } from '../service/context.js';
import { alignModel } from '../service/model-alignment.js';
import { printRows } from './rows.js';
import { ownCommand } from '../package-root.js';

interface Options {
  clips: string;
  json?: boolean;
}

export function addAlign(models: Command): void {
  models
    .command('align')
    .argument('<name>', 'an installed speech model')
    .requiredOption('--clips <dir>', TIMED_CLIPS)
    .option('--json', 'print JSON')
    .description('find the attention heads that align words best, and store them for an imported model')
    .action(align);
}

async function align(name: string, { clips, json = false }: Options): Promise<void> {
  const progress = (sets: number): void => {
    if (process.stderr.isTTY) console.error(`measured ${sets} sets of heads`);
  };
  const { selection, isStored } = await alignModel(name, clips, readContext(), progress);
  const rows = (kind: string, measured: readonly MeasuredHeads<AttentionHead>[]) =>
    measured.map(({ heads, meanError }) => ({
      kind,
      heads: heads.map(({ layer, head }) => `${layer}.${head}`).join(' '),
      mean_error_ms: Number((1000 * meanError).toFixed(1)),
    }));
  printRows([...rows('alone', selection.alone), ...rows('together', selection.grown)], json);
  const chosen = (selection.grown.at(-1)?.heads ?? []).map(({ layer, head }) => `[${layer}, ${head}]`);
  console.error(
    isStored
      ? `${name} now aligns words with the heads ${chosen.join(', ')}.`
      : `Nothing is stored: ${name} is of the manifest and keeps its traits. Its file under a name of its own ` +
          `(${ownCommand} models import FILE --name NAME, then align NAME) takes "alignmentHeads": ` +
          `[${chosen.join(', ')}].`,
  );
}
