import type { Command } from 'commander';
import { findModel } from '../models/manifest.js';
import { isInstalled, verifyModel } from '../models/store.js';
import { readContext } from '../service/context.js';
import { printRows } from './rows.js';
import { addAlign } from './models-align.js';
import { addImport } from './models-import.js';
import { addList } from './models-list.js';
import { addMeasure } from './models-measure.js';
import { addPull } from './models-pull.js';
import { addStatus } from './models-status.js';
import { addUse } from './models-use.js';

export function addModels(program: Command): void {
  const models = program.command('models').description('list, download, import, verify and serve models');
  addList(models);
  addPull(models);
  addImport(models);
  addAlign(models);
  addUse(models);
  addStatus(models);
  addMeasure(models);
  models
    .command('verify')
    .argument('[name]', 'one model (default: every installed one)')
    .option('--json', 'print JSON')
    .description('check sizes and checksums of installed models')
    .action(verifyModels);
}

async function verifyModels(name: string | undefined, options: { json?: boolean }): Promise<void> {
  const { manifest, roots } = readContext();
  const entries =
    name === undefined ? manifest.models.filter((entry) => isInstalled(roots, entry)) : [findModel(manifest, name)];
  const rows = [];
  for (const entry of entries) {
    for (const result of await verifyModel(roots, entry)) {
      const { file, checked } = result;
      rows.push({ name: entry.name, file, result: result.ok ? 'ok' : result.problem, checked });
    }
  }
  printRows(rows, options.json === true, 'No model is installed.');
  if (rows.some((row) => row.result !== 'ok')) process.exitCode = 1;
}
