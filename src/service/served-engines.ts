/** The engines of a server, in processes of their own. */
import { Quarantine } from '../engine/remote/quarantine.js';
import { Backlog } from '../engine/backlog.js';
import type { SpeechEngine } from '../engine/types.js';
import type { ModelSwitch } from '../models/model-switch.js';
import { unsupportedModel, type AcquireEngines } from '../transcription/engine-lease.js';
import { readChosenModel } from './chosen-model.js';
import type { EngineMetrics } from './device-engine.js';
import { startApart } from './engine-apart.js';
import type { EngineSettings, ServedInfo } from './engines.js';
import type { Logger } from './log.js';
import { ModelTurns } from './model-turns.js';
import { nextModel } from './next-model.js';
import { ServingSpeech } from './serving-speech.js';

export interface ServedEngines {
  /** Whichever serves now. */
  speech: Pick<SpeechEngine, 'info' | 'stats'>;
  acquire: AcquireEngines;
  /** What they have been given to do, whichever of them. */
  backlog: Backlog;
  models: ModelSwitch;
  /** See ModelTurns. */
  bringIn: ModelTurns['bringIn'];
  /** Of the one that serves now. */
  readonly info: ServedInfo;
  readonly translationModels: readonly string[];
  /** Of the processes that it runs in: one for each device that has one now. */
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

function withChosen({ config, ...settings }: EngineSettings): EngineSettings {
  const model = config.model ?? readChosenModel(config.dataDir);
  return { ...settings, config: Object.freeze({ ...config, model }) };
}

/** Serves the model that was chosen last, unless the configuration names one. */
export async function startEngines(
  settings: EngineSettings,
  { metrics, logger, main, devices, room }: ServedEnginesOptions,
): Promise<ServedEngines> {
  const turns: { models?: ModelTurns } = {};
  const backlog = new Backlog({
    maxSeconds: settings.config.maxBacklogSeconds,
    realTimeFactor: () => turns.models?.serving.speech.stats().realTimeFactor ?? 1,
  });
  const dependencies = { metrics, logger, quarantine: new Quarantine(Date.now), main, devices };
  const first = await startApart(withChosen(settings), dependencies);
  const parts = { settings, dependencies, ...(room === undefined ? {} : { room }) };
  const models = new ModelTurns({
    ...{ first, logger, now: Date.now },
    find: (name, leastSpeed) => nextModel(name, parts, leastSpeed),
    afterRestart: (name) => settings.config.model ?? name,
  });
  turns.models = models;
  return {
    speech: new ServingSpeech(models),
    acquire: (model) => {
      const serving = models.serving.info.modelName;
      if (model !== null && model !== serving) throw unsupportedModel(model, [serving]);
      return models.acquire();
    },
    backlog,
    models,
    bringIn: (name, by, leastSpeed) => models.bringIn(name, by, leastSpeed),
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
