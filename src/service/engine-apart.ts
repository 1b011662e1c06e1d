/** The engines of one speech model, in a separate process for each device. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { eachDevice } from '../engine/devices.js';
import { memoryOfProcess } from '../engine/process/heartbeat.js';
import { DeviceProcesses } from '../engine/remote/device-processes.js';
import { RemoteSpeechEngine } from '../engine/remote/remote-speech-engine.js';
import type { EngineSupervisor } from '../engine/remote/engine-supervisor.js';
import { RemoteTranslator } from '../engine/remote/remote-translator.js';
import type { TranslationModelSpec } from '../engine/translation/translation-model.js';
import { DeviceEngine, type EngineDependencies } from './device-engine.js';
import type { EngineSettings, ServedInfo } from './engines.js';
import { bytesInProcess, type Unloadable } from './model-memory.js';
import { installedTranslationModels } from './translation-engine.js';

export interface EngineApart {
  readonly speech: RemoteSpeechEngine;
  readonly translator: RemoteTranslator;
  /** One engine for each device, which runs only on that device. */
  readonly onEach: readonly RemoteSpeechEngine[];
  readonly info: ServedInfo;
  /** Ids of the processes, in the order of the devices. A device without a process has no entry. */
  readonly pids: readonly number[];
  /** Memory that its processes use now. */
  readonly bytes: number;
  /** The translation models that are loaded, as one unit that can be unloaded. */
  readonly text: Unloadable;
  /** Limits the lanes on each device. Resolves when no more lanes than that work. */
  limitLanes(lanes: number): Promise<void>;
  /** Resolves when one of its processes dies, with how it ended. */
  readonly died: Promise<string>;
  /** Waits for running requests. */
  close(): Promise<void>;
}

/** Rejects if the settings or the model are wrong, or when `signal` aborts. Then no process is left. */
export async function startApart(
  settings: EngineSettings,
  dependencies: EngineDependencies,
  signal?: AbortSignal,
): Promise<EngineApart> {
  const { config, roots, manifest } = settings;
  const { quarantine, devices = eachDevice(config.deviceSetting) } = dependencies;
  const { memoryOf = memoryOfProcess, makeRoom = () => Promise.resolve() } = dependencies;
  let reportDeath: (how: string) => void = () => undefined;
  const died = new Promise<string>((resolve) => (reportDeath = resolve));
  const several: { process?: DeviceProcesses } = {};
  const engines: DeviceEngine[] = devices.map(
    (device, index) =>
      new DeviceEngine({
        ...{ settings, dependencies, device: devices.length > 1 ? device : null },
        others: () => [...engines.slice(index + 1), ...engines.slice(0, index)],
        died: reportDeath,
        changed: () => several.process?.changed(),
      }),
  );
  const found = await startedAll(engines, signal);
  for (const info of found) logWeightCache(info, dependencies.logger);
  const info = infoOfAll(found, config);
  const supervisors = engines.map(({ supervisor }) => supervisor);
  const [only, ...others] = supervisors;
  const process =
    only !== undefined && others.length === 0 ? only : (several.process = new DeviceProcesses(supervisors));
  const shared = { info, quarantine };
  const textModels = installedTranslationModels(roots, manifest);
  const translator = new RemoteTranslator(process, textModels);
  const textBytes = (names: readonly string[]): number =>
    sizeOfAll(textModels.filter(({ name }) => names.includes(name)));
  translator.beforeLoad = (names) => makeRoom(bytesInProcess(textBytes(names)));
  return {
    speech: new RemoteSpeechEngine({ ...shared, process }),
    translator,
    text: unloadableText(translator, textBytes, supervisors),
    onEach: supervisors.map((one) => new RemoteSpeechEngine({ ...shared, process: one })),
    info,
    get pids() {
      return supervisors.flatMap(({ pid }) => pid ?? []);
    },
    get bytes() {
      return supervisors.reduce((sum, { pid }) => sum + (pid === null ? 0 : (memoryOf(pid) ?? 0)), 0);
    },
    limitLanes: async (lanes) => {
      await Promise.all(supervisors.map((one) => one.limitLanes(lanes)));
    },
    died,
    close: () => process.close(),
  };
}

/** Starts all engines, or none. */
async function startedAll(engines: readonly DeviceEngine[], signal: AbortSignal | undefined): Promise<ServedInfo[]> {
  const starting = engines.map((engine) => engine.start(signal));
  try {
    return await Promise.all(starting);
  } catch (error) {
    await Promise.all(engines.map(({ supervisor }) => supervisor.close()));
    throw error;
  }
}

function logWeightCache({ modelName, weightCache }: ServedInfo, logger: EngineDependencies['logger']): void {
  if (weightCache === null) return;
  const { foundBytes, writtenBytes, sharedBytes, problem } = weightCache;
  const bytes = { foundBytes, writtenBytes, sharedBytes };
  const text = writtenBytes === 0 && problem === null ? 'packed weights were found' : 'weights were packed';
  if (problem === null) logger.info({ model: modelName, ...bytes }, text);
  else logger.warn({ model: modelName, ...bytes, problem }, `${text}; the cache of packed weights has a problem`);
}

/** All devices have the same model and settings. The processes do not get secrets, so these are added here. */
function infoOfAll(found: readonly ServedInfo[], config: EngineSettings['config']): ServedInfo {
  const [first] = found;
  if (first === undefined) throw new RangeError('An engine needs a device.');
  const { secret, metricsToken, database } = config;
  const withheld = { secret, metricsToken, database };
  const ids = found.flatMap(({ devices }) => devices.ids);
  const name = [...new Set(found.map(({ devices }) => devices.name))].join(', ');
  return { ...first, devices: { ids, name }, config: Object.freeze({ ...first.config, ...withheld }) };
}

function unloadableText(
  translator: RemoteTranslator,
  bytesOf: (models: readonly string[]) => number,
  supervisors: readonly EngineSupervisor[],
): Unloadable {
  return {
    get lastUsed() {
      return translator.lastUsed;
    },
    get isIdle() {
      return translator.isIdle && translator.usedModels.length > 0;
    },
    get bytes() {
      return bytesOf(translator.usedModels);
    },
    unload: async () => {
      translator.unloaded();
      await Promise.all(supervisors.map((one) => one.unloadText()));
    },
  };
}

/** The size of the model files. A removed file counts as 0. */
function sizeOfAll(models: readonly TranslationModelSpec[]): number {
  const sizes = models.map(({ path }) => statSync(join(path, 'model.bin'), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
