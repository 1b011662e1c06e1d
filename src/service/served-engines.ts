/** The engines of a server: in a process of their own, or in the server's, as VERBATIM_ENGINE_PROCESS has it. */
import { extname, join } from 'node:path';
import { EngineError } from '../engine/native-errors.js';
import { forking } from '../engine/process/child.js';
import { EngineSupervisor } from '../engine/remote/engine-supervisor.js';
import { Quarantine } from '../engine/remote/quarantine.js';
import { RemoteSpeechEngine } from '../engine/remote/remote-speech-engine.js';
import { RemoteTranslator } from '../engine/remote/remote-translator.js';
import type { Measurement } from '../engine/remote/engine-calls.js';
import type { TranslationObserver } from '../engine/translation/translation-scheduler.js';
import type { EngineObserver, SpeechEngine } from '../engine/types.js';
import type { TextTranslator } from '../transcription/language-support.js';
import { loadEngines, type EngineSettings, type ServedInfo } from './engines.js';
import { installedTranslationModels } from './translation-engine.js';
import { UsageError } from './variables.js';
import type { Logger } from './log.js';

export interface ServedEngines {
  speech: SpeechEngine;
  translator: TextTranslator & { readonly modelNames: readonly string[] };
  info: ServedInfo;
  /** Of the process that they run in, where it is one of their own. */
  readonly pid: number | null;
  /** Requests that run finish first. */
  close(): Promise<void>;
}

export interface ServedEnginesOptions {
  metrics: EngineObserver & TranslationObserver & { engineDied(reason: string): void };
  logger: Pick<Logger, 'error'>;
  /** What the process runs; default: the service's own. */
  main?: string;
}

export function startEngines(
  settings: EngineSettings,
  options: ServedEnginesOptions,
): Promise<ServedEngines> {
  return settings.config.engineProcess ? startApart(settings, options) : startHere(settings, options);
}

async function startHere(
  settings: EngineSettings,
  { metrics }: ServedEnginesOptions,
): Promise<ServedEngines> {
  const { speech, translation, info } = await loadEngines(settings, { observer: metrics });
  const close = async (): Promise<void> => {
    await speech.close();
    await translation.close();
  };
  return { speech, translator: translation, info, pid: null, close };
}

/** Computes at the priority that the addon gives its threads, as it does in the server's process. */
const NICENESS = 0;

async function startApart(
  settings: EngineSettings,
  { metrics, logger, main = join(__dirname, `engine-process${extname(__filename)}`) }: ServedEnginesOptions,
): Promise<ServedEngines> {
  const quarantine = new Quarantine(Date.now);
  const { config, roots, manifest } = settings;
  let current = told(settings);
  const supervisor = new EngineSupervisor({
    start: forking({ main, env: environment(), niceness: NICENESS, isExpendable: true }),
    settings: () => current,
    observer: {
      engineDied: ({ reason, how, requestIds }) => {
        metrics.engineDied(reason);
        logger.error({ reason, how, requestIds }, 'the engine process died; what it worked on is repeated');
      },
      engineRefused: (origin) => {
        if (origin !== undefined) quarantine.add(origin);
        logger.error({ ...origin }, 'the engine process dies of this request, which is refused');
      },
      measured: (measurement) => observe(metrics, measurement),
    },
  });
  const found = (await started(supervisor)) as ServedInfo;
  // Found once: it takes the hash of a whole model.
  current = { ...current, config: found.config, env: null };
  const { secret, metricsToken, database, maxBacklogSeconds } = config;
  const withheld = { secret, metricsToken, database, maxBacklogSeconds };
  const info = { ...found, config: Object.freeze({ ...found.config, ...withheld }) };
  return {
    speech: new RemoteSpeechEngine({ process: supervisor, info, quarantine, maxBacklogSeconds }),
    translator: new RemoteTranslator(supervisor, installedTranslationModels(roots, manifest)),
    info,
    get pid() {
      return supervisor.pid;
    },
    close: () => supervisor.close(),
  };
}

async function started(supervisor: EngineSupervisor): Promise<unknown> {
  try {
    return await supervisor.start();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'invalid_argument')
      throw new UsageError(error.message);
    throw error;
  }
}

/** Without what is none of its business; what is let in is the server's to say. */
function told({ config, ...settings }: EngineSettings): EngineSettings {
  const unneeded = { secret: null, metricsToken: null, database: '' };
  return { ...settings, config: { ...config, ...unneeded, maxBacklogSeconds: Infinity } };
}

/** What the addon's libraries read, and no setting of the service. */
function environment(): Record<string, string> {
  const given = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(VERBATIM_|HF_TOKEN$)/.test(entry[0]),
  );
  return Object.fromEntries(given);
}

function observe(observer: EngineObserver & TranslationObserver, measurement: Measurement): void {
  const { kind } = measurement;
  if (kind === 'window') observer.windowDone(measurement.measured);
  else if (kind === 'batch') observer.batchAdvanced?.(measurement.measured);
  else observer.batchDone(measurement.measured);
}
