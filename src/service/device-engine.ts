/** Starts the engines of one model on one device, in a separate process. */
import { extname, join } from 'node:path';
import { EngineError } from '../engine/native-errors.js';
import { seeingOnly } from '../engine/only-device.js';
import { forking, type StartChild } from '../engine/process/child.js';
import type { Plain } from '../engine/process/messages.js';
import type { Launch } from '../engine/process/supervisor.js';
import type { Measurement } from '../engine/remote/engine-calls.js';
import { EngineSupervisor } from '../engine/remote/engine-supervisor.js';
import type { Quarantine } from '../engine/remote/quarantine.js';
import type { TranslationObserver } from '../engine/translation/translation-scheduler.js';
import type { EngineObserver } from '../engine/types.js';
import type { EngineSettings, ServedInfo } from './engines.js';
import type { LoadObserver } from './load-observer.js';
import type { Logger } from './log.js';
import { UsageError } from './variables.js';

export interface EngineMetrics extends EngineObserver, TranslationObserver, LoadObserver {
  engineDied(reason: string): void;
}

/** Shared by all engines of a server. */
export interface EngineDependencies {
  metrics: EngineMetrics;
  logger: Pick<Logger, 'error' | 'info' | 'warn'>;
  quarantine: Quarantine;
  /** The file that a process runs. Default: the service's own. */
  main?: string | undefined;
  /** The device of each process, written as in VERBATIM_DEVICE. Default: the devices of the configuration. */
  devices?: readonly string[] | undefined;
  /** Unloads unused models to free this many bytes. Default: nothing is unloaded. */
  makeRoom?: ((bytes: number) => Promise<unknown>) | undefined;
  /** Memory of a process in bytes. Default: as the kernel reports it. */
  memoryOf?: ((pid: number) => number | null) | undefined;
}

export interface DeviceEngineOptions {
  settings: EngineSettings;
  dependencies: Pick<EngineDependencies, 'metrics' | 'logger' | 'quarantine' | 'main'>;
  /** null: the devices of the settings. */
  device: string | null;
  /**
   * The engines of the other devices. Isolation runs use one of them, so that a failing device does not convict its own
   * requests.
   */
  others: () => readonly DeviceEngine[];
  died: (how: string) => void;
  changed: () => void;
}

/**
 * Steps of nice(2) below the server, so that the server gets a processor whenever it has work. The addon's threads are
 * another ten steps lower. Work of isolated accounts has the lowest priority.
 */
const NICENESS = 5;
const ISOLATED_NICENESS = 15;

export class DeviceEngine {
  readonly supervisor: EngineSupervisor;
  readonly #startAt: (niceness: number) => StartChild;
  #settings: Plain<EngineSettings>;

  constructor({ settings, dependencies, device, others, died, changed }: DeviceEngineOptions) {
    const { metrics, logger, quarantine, main = ownMain() } = dependencies;
    const env = { ...environment(), ...(device === null ? {} : seeingOnly(device, process.env)) };
    this.#settings = withoutSecrets({ ...settings, device });
    this.#startAt = (niceness) => forking({ main, env, niceness });
    const where = device === null ? {} : { device };
    this.supervisor = new EngineSupervisor({
      ...this.#launch(NICENESS),
      isolation: (purpose) => {
        const engine = others().find(({ supervisor }) => supervisor.isServing) ?? this;
        return engine.#launch(purpose === 'isolated' ? ISOLATED_NICENESS : NICENESS);
      },
      accounts: quarantine,
      changed,
      observer: {
        engineDied: ({ reason, how, requestIds }) => {
          died(how);
          metrics.engineDied(reason);
          logger.error({ ...where, reason, how, requestIds }, 'the engine process died; its requests are repeated');
        },
        engineRefused: (origin) => {
          logger.error({ ...origin }, 'this request crashes the engine process, and is refused');
          if (origin === undefined) return;
          quarantine.convict(origin);
          const { accountId } = origin;
          if (quarantine.isIsolated({ accountId, background: false }))
            logger.error({ accountId }, 'work of this account runs in isolation for an hour, behind all other work');
        },
        measured: (measurement) => observe(metrics, measurement),
      },
    });
  }

  #launch(niceness: number): Launch {
    return { start: this.#startAt(niceness), settings: () => this.#settings };
  }

  /** Rejects if the settings or the model are wrong, or when `signal` aborts. Then no process is left. */
  async start(signal: AbortSignal | undefined): Promise<ServedInfo> {
    const giveUp = (): void => void this.supervisor.close();
    try {
      const started = this.supervisor.start();
      if (signal?.aborted === true) giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      const found: Plain<ServedInfo> = (await started) as ServedInfo;
      // Kept for later starts, because finding them needs the hash of the whole model file.
      this.#settings = { ...this.#settings, config: found.config, env: null };
      return found;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof EngineError && error.code === 'invalid_argument') throw new UsageError(error.message);
      throw error;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }
}

function ownMain(): string {
  return join(__dirname, `engine-process${extname(__filename)}`);
}

/** Removes the settings that the process must not see. */
function withoutSecrets({ config, ...settings }: EngineSettings): EngineSettings {
  const unneeded = { secret: null, metricsToken: null, database: '' };
  return { ...settings, config: { ...config, ...unneeded } };
}

/** The environment for the addon's libraries, without settings of the service. */
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
