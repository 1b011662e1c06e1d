import type { Command } from 'commander';
import { findModel, type ModelEntry } from '../models/manifest.js';
import { checkedBy, modelFiles } from '../models/store.js';
import { ownCommand } from '../package-root.js';
import { knownModelForMachine, modelForMachine } from '../service/automatic-model/model-for-machine.js';
import { keepSpeeds } from '../service/automatic-model/speed-file.js';
import { readContext } from '../service/context.js';
import { pull, type PullProgress } from '../service/model-store.js';
import { UsageError } from '../service/variables.js';
import { INSTALL_COMMAND } from '../transcription/warnings.js';
import { untilInterrupted } from './interruption.js';
import { MEASURING_LINES, pullWithProgress, speedText, waitingText } from './pull-on-terminal.js';
import { canAsk, confirmed } from './question.js';
import { megabytes } from './sizes.js';
import { FAILED } from './words.js';

interface Flags {
  yes?: boolean;
  json?: boolean;
}

export function addPull(models: Command): void {
  models
    .command('pull')
    .argument('[name]', 'a name that `verbatim models list` shows (default: the model that suits this machine)')
    .option('--yes', 'without a name: download without asking')
    .option('--json', 'print progress and result as lines of JSON')
    .description(
      'download a model; resumes, and verifies the checksum (HF_ENDPOINT, HF_TOKEN and proxies are respected)',
    )
    .action(pullModel);
}

async function pullModel(named: string | undefined, flags: Flags): Promise<void> {
  if (named !== undefined && flags.yes === true) throw new UsageError('--yes cannot be used with the name of a model.');
  await untilInterrupted(async (signal) => {
    const name = named ?? (await chosenName(flags, signal));
    if (name === null) process.exitCode = FAILED;
    else if (flags.json === true) await pullInLines(name, signal);
    else await pullWithBar(name, signal);
  });
}

/** The name of the model that suits this machine. null: the user declined it. */
async function chosenName({ yes = false, json = false }: Flags, signal: AbortSignal): Promise<string | null> {
  const context = readContext();
  const asks = !json && canAsk();
  const known = knownModelForMachine(context);
  if (known?.isInstalled === true) return known.name;
  if (!yes && !asks)
    throw new UsageError(known === null ? UNMEASURED : `${offer(known)} Run: ${INSTALL_COMMAND} --yes`);
  const model = known ?? (await modelForMachine(context, { ...MEASURING_LINES, keep: keepSpeeds, signal }));
  if (yes || model.isInstalled) return model.name;
  if (await confirmed(`${offer(model)} Download it?`, signal)) return model.name;
  console.error('Nothing is downloaded.');
  return null;
}

const UNMEASURED =
  `This machine is not measured yet. Run: ${INSTALL_COMMAND} --yes, which measures it and downloads the model that ` +
  `suits it, or name one that "${ownCommand} models list" shows.`;

function offer({ name, speed, bytes }: { name: string; speed: number; bytes: number | null }): string {
  const size = bytes === null ? '' : `, ${megabytes(bytes)}`;
  return `${name}${size}, is the best published model for this machine: it runs at ${speedText(speed)} here.`;
}

async function pullWithBar(name: string, signal: AbortSignal): Promise<void> {
  const context = readContext();
  const fetched = await pullWithProgress(name, context, signal);
  const entry = findModel(context.manifest, name);
  console.log(`${name} is installed${checkedText(entry)}${fetched ? '' : ' already'}`);
  if (fetched && entry.kind === 'speech')
    console.log(`To use it on a running server: ${ownCommand} models use ${name}`);
}

/** What an installed model was checked against. Not every publisher gives a checksum. */
function checkedText(entry: ModelEntry): string {
  const checks = modelFiles(entry).map(checkedBy);
  if (checks.includes('presence')) return ' (size and checksum unknown)';
  return checks.includes('size') ? ' (checksum unknown)' : ' and verified';
}

/** Milliseconds between two lines of progress. */
const LINE_MS = 250;

/**
 * Output for programs: a JSON line for the progress, then one that says whether anything was downloaded. After SIGTERM,
 * the part files stay and the next download resumes from them.
 */
async function pullInLines(name: string, signal: AbortSignal): Promise<void> {
  let unreported: object | null = null;
  const printProgress = (): void => {
    if (unreported !== null) console.log(JSON.stringify(unreported));
    unreported = null;
  };
  const onProgress: PullProgress = (file, received, total) => {
    unreported = { file, received_bytes: received, total_bytes: total };
  };
  const onWait = (): void => console.error(waitingText(name));
  const timer = setInterval(printProgress, LINE_MS);
  try {
    const downloaded = await pull(name, readContext(), { onProgress, onWait, signal });
    printProgress();
    console.log(JSON.stringify({ installed: name, downloaded }));
  } finally {
    clearInterval(timer);
  }
}
