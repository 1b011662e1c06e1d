/** The engines of a server: in processes of their own, or in the server's, as VERBATIM_ENGINE_PROCESS has it. */
import { systemClock } from '../engine/clock.js';
import { Quarantine } from '../engine/remote/quarantine.js';
import { Backlog } from '../engine/speech/backlog.js';
import type { SpeechEngine } from '../engine/types.js';
import { ModelRefused } from '../errors.js';
import type { ModelState, ModelSwitch } from '../http/deps.js';
import { lendAlways, type LendEngines } from '../transcription/lent-engines.js';
import { readChosenModel } from './chosen-model.js';
import { startApart, type EngineMetrics } from './engine-apart.js';
import { loadEngines, type EngineSettings, type ServedInfo } from './engines.js';
import type { Logger } from './log.js';
import { ModelTurns } from './model-turns.js';
import { nextModel } from './next-model.js';
import { ServingSpeech } from './serving-speech.js';

export interface ServedEngines {
  /** Whichever serves now. */
  speech: SpeechEngine;
  lend: LendEngines;
  models: ModelSwitch;
  /** Of the one that serves now. */
  readonly info: ServedInfo;
  readonly translationModels: readonly string[];
  /** Of the processes that it runs in, where it has its own: one for each device that has one now. */
  readonly pids: readonly number[];
  /** Requests that run finish first. */
  close(): Promise<void>;
}

export interface ServedEnginesOptions {
  metrics: EngineMetrics;
  logger: Pick<Logger, 'error' | 'info'>;
  /** What a process runs; default: the service's own. */
  main?: string | undefined;
  /** Of each process its device; default: those that the configuration names. */
  devices?: readonly string[] | undefined;
  /** Bytes that the processes of another model may take; default: what the kernel says. */
  room?: () => number | null;
}

/** Serves the model that was chosen last, unless the configuration names one. */
export function startEngines(
  settings: EngineSettings,
  options: ServedEnginesOptions,
): Promise<ServedEngines> {
  return settings.config.engineProcess ? startTurns(settings, options) : startHere(settings, options);
}

function withChosen({ config, ...settings }: EngineSettings): EngineSettings {
  const model = config.model ?? readChosenModel(config.dataDir);
  return { ...settings, config: Object.freeze({ ...config, model }) };
}

async function startHere(
  settings: EngineSettings,
  { metrics }: ServedEnginesOptions,
): Promise<ServedEngines> {
  const { speech, translation, info } = await loadEngines(withChosen(settings), { observer: metrics });
  const close = async (): Promise<void> => {
    await speech.close();
    await translation.close();
  };
  const lend = lendAlways(speech, translation);
  const { modelNames: translationModels } = translation;
  return { speech, lend, models: fixedModel(speech.modelName), info, translationModels, pids: [], close };
}

/** Two models in one process could not be told apart when it dies, nor could one be let go of while it is in use. */
export function fixedModel(serving: string, since = Date.now()): ModelSwitch {
  return {
    state: (): ModelState => ({ serving, since, afterRestart: serving, change: null, last: null }),
    use: () => {
      throw new ModelRefused(
        'The engine runs in the process of the server (VERBATIM_ENGINE_PROCESS=off), which has room for one model. ' +
          'Name the other one in VERBATIM_MODEL and restart.',
      );
    },
  };
}

async function startTurns(
  settings: EngineSettings,
  { metrics, logger, main, devices, room }: ServedEnginesOptions,
): Promise<ServedEngines> {
  const turns: { models?: ModelTurns } = {};
  const backlog = new Backlog({
    maxSeconds: settings.config.maxBacklogSeconds,
    clock: systemClock,
    realTimeFactor: () => turns.models?.serving.speech.realTimeFactor ?? 1,
  });
  const surroundings = { metrics, logger, backlog, quarantine: new Quarantine(Date.now), main, devices };
  const first = await startApart(withChosen(settings), surroundings);
  const parts = { settings, surroundings, ...(room === undefined ? {} : { room }) };
  const models = new ModelTurns({
    ...{ first, logger, now: Date.now },
    find: (name) => nextModel(name, parts),
    afterRestart: (name) => settings.config.model ?? name,
  });
  turns.models = models;
  return {
    speech: new ServingSpeech(models),
    lend: () => models.lend(),
    models,
    get info() {
      return models.serving.info;
    },
    get translationModels() {
      return models.serving.translator.modelNames;
    },
    get pids() {
      return models.serving.pids;
    },
    close: () => models.close(),
  };
}
