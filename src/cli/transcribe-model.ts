/**
 * The speech model of `verbatim transcribe` if no model is named. First choice: the chosen or an installed model. Next,
 * on a terminal: download the published model that suits this machine. Otherwise: the demonstration model.
 */
import { existsSync } from 'node:fs';
import type { Config } from '../service/config.js';
import type { ModelSpeeds } from '../models/automatic-model.js';
import { ownCommand } from '../package-root.js';
import { modelForMachine } from '../service/automatic-model/model-for-machine.js';
import { keepSpeeds } from '../service/automatic-model/speed-file.js';
import type { ServiceContext } from '../service/context.js';
import { localModel } from '../service/local-model.js';
import { MEASURING_LINES, pullWithProgress, speedText } from './pull-on-terminal.js';
import { megabytes } from './sizes.js';
import { printableLines } from './printable.js';

export interface ChosenModel {
  context: ServiceContext;
  /** Whether the demonstration model is used although nobody chose it, and no notice was printed yet. */
  isUnannounced: boolean;
}

/** Rejects when the signal aborts. Throws as readChosenModel() does. */
export async function chooseModel(context: ServiceContext, signal: AbortSignal): Promise<ChosenModel> {
  const { config } = context;
  if (config.model !== null) return { context, isUnannounced: false };
  const installed = localModel(context);
  const mayFetch = config.autoModel !== false;
  const onTerminal = process.stderr.isTTY;
  const model = installed ?? (mayFetch && onTerminal ? await fetched(context, signal) : null);
  return {
    context: { ...context, config: { ...config, model } },
    isUnannounced: model === null && mayFetch && !onTerminal,
  };
}

/** null: the download failed, and the reason was printed. */
async function fetched(context: ServiceContext, signal: AbortSignal): Promise<string | null> {
  try {
    const { name, speed, bytes } = await modelForMachine(context, { ...MEASURING_LINES, keep, signal });
    const size = bytes === null ? '' : `, ${megabytes(bytes)}`;
    console.error(`Fetching ${name}${size}: the best published model for this machine (${speedText(speed)}).`);
    await pullWithProgress(name, context, signal);
    return name;
  } catch (error) {
    signal.throwIfAborted();
    const problem = (error as Error).message.replace(/\.$/, '');
    console.error(printableLines(`${problem}; ${FALL_BACK}`));
    return null;
  }
}

const FALL_BACK =
  `the demonstration model transcribes, which knows a phrase book only ("${ownCommand} models import" brings a model ` +
  'without a network, HF_ENDPOINT names a mirror of the hub).';

/** Stores the speeds only if the data directory exists. Transcribing a file does not create it. */
function keep(config: Config, speeds: ModelSpeeds): void {
  if (existsSync(config.dataDir)) keepSpeeds(config, speeds);
}
