import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { findModel, type ModelEntry } from '../models/manifest.js';
import { checkedBy, isInstalled, modelFiles, verifyModel } from '../models/store.js';
import { readContext } from '../service/context.js';
import { pull, type PullProgress } from '../service/model-store.js';
import { untilInterrupted } from './interruption.js';
import { printRows } from './rows.js';
import { addAlign } from './models-align.js';
import { addImport } from './models-import.js';
import { addList } from './models-list.js';
import { addMeasure } from './models-measure.js';
import { addStatus } from './models-status.js';
import { addUse } from './models-use.js';

export function addModels(program: Command): void {
  const models = program.command('models').description('list, download, import, verify and serve models');
  addList(models);
  models
    .command('pull')
    .argument('<name>', 'a name that `verbatim models list` shows')
    .option('--json', 'print progress and result as lines of JSON')
    .description(
      'download a model; resumes, and verifies the checksum (HF_ENDPOINT, HF_TOKEN and proxies are respected)',
    )
    .action(pullModel);
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

async function pullModel(name: string, options: { json?: boolean }): Promise<void> {
  if (options.json === true) await pullInLines(name);
  else await pullWithBar(name);
}

async function pullWithBar(name: string): Promise<void> {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{file} [{bar}] {percentage}% {value}/{total} MiB', stream: process.stderr })
    : null;
  let shown = '';
  try {
    const context = readContext();
    const fetched = await pull(name, context, {
      onWait: () => console.error(waitingText(name)),
      onProgress: (file, received, total) => {
        if (shown !== file) bar?.start(Math.ceil((total ?? 0) / (1 << 20)), 0, { file });
        shown = file;
        bar?.update(Math.floor(received / (1 << 20)));
      },
    });
    bar?.stop();
    console.log(`${name} is installed${known(findModel(context.manifest, name))}${fetched ? '' : ' already'}`);
  } finally {
    bar?.stop();
  }
}

function waitingText(name: string): string {
  return `Another process downloads ${name}. Waiting for it.`;
}

/** What an installed model was held against: not every publisher says what a file must be. */
function known(entry: ModelEntry): string {
  const checks = modelFiles(entry).map(checkedBy);
  if (checks.includes('presence')) return ' (nobody says what size and checksum it has)';
  return checks.includes('size') ? ' (nobody says what checksum it has)' : ' and verified';
}

/** Between two lines of progress. */
const LINE_MS = 250;

/**
 * For programs: what is received while it is, and whether anything was in the end. SIGTERM leaves what there is for the
 * next time.
 */
async function pullInLines(name: string): Promise<void> {
  let untold: object | null = null;
  const printProgress = (): void => {
    if (untold !== null) console.log(JSON.stringify(untold));
    untold = null;
  };
  const onProgress: PullProgress = (file, received, total) => {
    untold = { file, received_bytes: received, total_bytes: total };
  };
  const onWait = (): void => console.error(waitingText(name));
  const timer = setInterval(printProgress, LINE_MS);
  try {
    const downloaded = await untilInterrupted((signal) => pull(name, readContext(), { onProgress, onWait, signal }));
    printProgress();
    console.log(JSON.stringify({ installed: name, downloaded }));
  } finally {
    clearInterval(timer);
  }
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
