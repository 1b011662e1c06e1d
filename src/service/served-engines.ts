/** The engines of a server, in separate processes. */
import { Quarantine } from '../engine/remote/quarantine.js';
import { Backlog } from '../engine/backlog.js';
import { LaneDivision } from '../engine/lane-division.js';
import type { SpeechEngine } from '../engine/types.js';
import type { ModelSwitch } from '../models/model-switch.js';
import { systemTimers, type Timers } from '../timers.js';
import type { AcquireEngines } from '../transcription/engine-lease.js';
import { readChosenModel } from './chosen-model.js';
import type { EngineDependencies, EngineMetrics } from './device-engine.js';
import { startApart, type EngineApart } from './engine-apart.js';
import type { EngineSettings, ServedInfo } from './engines.js';
import { freeMemory } from './free-memory.js';
import { InstalledSpeech, modelToLoad } from './installed-speech.js';
import { LoadedModels } from './loaded-models.js';
import type { Logger } from './log.js';
import { ModelMemory, type Unloadable } from './model-memory.js';
import { ModelTurns } from './model-turns.js';
import { nextModel } from './next-model.js';
import { ServingSpeech } from './serving-speech.js';

export interface ServedEngines {
  /** The engine that serves by default at the moment. */
  speech: Pick<SpeechEngine, 'info' | 'stats'>;
  acquire: AcquireEngines;
  /** The models that requests can name. */
  installed: Pick<InstalledSpeech, 'find' | 'list'>;
  /** The memory limit of all loaded models and their current use, in bytes. */
  memory: Pick<ModelMemory, 'limit' | 'used' | 'makeRoom'>;
  /** The work of all engines together. */
  backlog: Backlog;
  models: ModelSwitch;
  /** See ModelTurns. */
  bringIn: ModelTurns['bringIn'];
  /** Of the engine that serves at the moment. */
  readonly info: ServedInfo;
  readonly translationModels: readonly string[];
  /** Ids of all running processes, one for each device. */
  readonly pids: readonly number[];
  /** Waits for running requests. */
  close(): Promise<void>;
}

export interface ServedEnginesOptions {
  metrics: EngineMetrics;
  logger: Pick<Logger, 'error' | 'info' | 'warn'>;
  /** The file that a process runs. Default: the service's own. */
  main?: string | undefined;
  /** The device of each process. Default: the devices of the configuration. */
  devices?: readonly string[] | undefined;
  /** Bytes that the processes of another model may use. Default: as the kernel reports it. */
  room?: () => number | null;
  /** The speaker models, which share the memory. Default: none. */
  speakers?: Unloadable | undefined;
  timers?: Timers;
  /** See EngineDependencies. */
  memoryOf?: EngineDependencies['memoryOf'];
}

function withChosen({ config, ...settings }: EngineSettings): EngineSettings {
  const model = config.model ?? readChosenModel(config.dataDir);
  return { ...settings, config: Object.freeze({ ...config, model }) };
}

/** The share of the memory that is free when the server starts, on the machine or in its control group. */
const MEMORY_SHARE = 0.7;

/** Serves the configured model, or else the one that was chosen last. */
export async function startEngines(settings: EngineSettings, options: ServedEnginesOptions): Promise<ServedEngines> {
  const { metrics, logger, main, devices, memoryOf, room = freeMemory, speakers, timers = systemTimers } = options;
  const { config } = settings;
  const free = room();
  const later: { turns?: ModelTurns; loaded?: LoadedModels; speech?: ServingSpeech } = {};
  const atWork = (): EngineApart[] => [
    ...(later.turns?.atWork ?? []),
    ...(later.loaded?.list() ?? []).map(({ engine }) => engine),
  ];
  const memory = new ModelMemory({
    limit: config.modelMemory ?? (free === null ? null : Math.floor(free * MEMORY_SHARE)),
    used: () => atWork().reduce((sum, { bytes }) => sum + bytes, speakers?.bytes ?? 0),
  });
  const backlog = new Backlog({
    maxSeconds: config.maxBacklogSeconds,
    realTimeFactor: () => later.speech?.realTimeFactor ?? 1,
  });
  const dependencies = {
    ...{ metrics, logger, quarantine: new Quarantine(Date.now), main, devices, memoryOf },
    makeRoom: (bytes: number) => memory.makeRoom(bytes),
  };
  const first = await startApart(withChosen(settings), dependencies);
  const division = new LaneDivision({ lanes: lanesOf(() => later.turns?.serving ?? first), timers, now: monotonic });
  const parts = { settings, dependencies, room, memory };
  const turns = (later.turns = new ModelTurns({
    ...{ first, division, logger, now: Date.now },
    find: (name, leastSpeed) => nextModel(name, parts, leastSpeed),
    afterRestart: (name) => config.model ?? name,
    served: (name) => later.loaded?.replaced(name),
  }));
  const loaded = (later.loaded = new LoadedModels({
    ...{ memory, division, logger, timers, now: Date.now, observer: metrics },
    find: (name) => modelToLoad(name, settings, dependencies),
    idleMs: config.modelIdleSeconds === 0 ? null : 1000 * config.modelIdleSeconds,
  }));
  const speech = (later.speech = new ServingSpeech(turns, { atWork, division }));
  const installed = new InstalledSpeech({ settings, dependencies, turns, loaded });
  if (speakers !== undefined) memory.add(speakers);
  memory.add(textOf(turns));
  return {
    ...{ speech, installed, memory, backlog, models: turns },
    acquire: (model) => installed.acquire(model),
    bringIn: (name, by, leastSpeed) => turns.bringIn(name, by, leastSpeed),
    get info() {
      return turns.serving.info;
    },
    get translationModels() {
      return turns.serving.translator.modelNames;
    },
    get pids() {
      return atWork().flatMap(({ pids }) => pids);
    },
    close: async () => {
      await loaded.close();
      await turns.close();
    },
  };
}

function monotonic(): number {
  return performance.now();
}

/** Lanes on one device of the engine. While it has no process, the last known number. */
function lanesOf(serving: () => EngineApart): () => number {
  let last = 1;
  return () => {
    const { speech, pids } = serving();
    const { slots } = speech.stats();
    if (slots > 0 && pids.length > 0) last = Math.max(1, Math.round(slots / pids.length));
    return last;
  };
}

/** The translation models of the engine that serves by default at the moment. */
function textOf(turns: Pick<ModelTurns, 'serving'>): Unloadable {
  return {
    get lastUsed() {
      return turns.serving.text.lastUsed;
    },
    get isIdle() {
      return turns.serving.text.isIdle;
    },
    get bytes() {
      return turns.serving.text.bytes;
    },
    unload: () => turns.serving.text.unload(),
  };
}
