/** The engines of a server, in processes of their own. */
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
  /** Whichever serves by default now. */
  speech: Pick<SpeechEngine, 'info' | 'stats'>;
  acquire: AcquireEngines;
  /** The models that requests can name. */
  installed: Pick<InstalledSpeech, 'find' | 'list'>;
  /** What all models in memory may take, and take now, in bytes. */
  memory: Pick<ModelMemory, 'limit' | 'used' | 'makeRoom'>;
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
  /** The models of speakers, which share the memory; default: there are none. */
  speakers?: Unloadable | undefined;
  timers?: Timers;
  /** As of EngineDependencies. */
  memoryOf?: EngineDependencies['memoryOf'];
}

function withChosen({ config, ...settings }: EngineSettings): EngineSettings {
  const model = config.model ?? readChosenModel(config.dataDir);
  return { ...settings, config: Object.freeze({ ...config, model }) };
}

/** Of what the machine, or its control group, leaves as the server starts. */
const MEMORY_SHARE = 0.7;

/** Serves the model that was chosen last, unless the configuration names one. */
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

/** On one device of the engine; while it has no process, as before. */
function lanesOf(serving: () => EngineApart): () => number {
  let last = 1;
  return () => {
    const { speech, pids } = serving();
    const { slots } = speech.stats();
    if (slots > 0 && pids.length > 0) last = Math.max(1, Math.round(slots / pids.length));
    return last;
  };
}

/** The translation models of whichever engine serves by default. */
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
