/** The engines of one model on one device, in a process of their own, and how that is started. */
import { extname, join } from 'node:path';
import { EngineError } from '../engine/native-errors.js';
import { seeingOnly } from '../engine/only-device.js';
import { forking } from '../engine/process/child.js';
import { ENGINE_FORM, type Measurement } from '../engine/remote/engine-calls.js';
import { EngineSupervisor, type EngineLaunch } from '../engine/remote/engine-supervisor.js';
import type { TranslationObserver } from '../engine/translation/translation-scheduler.js';
import type { EngineObserver } from '../engine/types.js';
import type { EngineSurroundings } from './engine-apart.js';
import type { EngineSettings, ServedInfo } from './engines.js';
import { UsageError } from './variables.js';

export interface DeviceEngineOptions {
  settings: EngineSettings;
  surroundings: Pick<EngineSurroundings, 'metrics' | 'logger' | 'quarantine' | 'main'>;
  /** Null: whatever the settings name. */
  device: string | null;
  /** Those of the other devices: suspects are tried on one of these, lest a device that fails convicts what it is given. */
  others: () => readonly DeviceEngine[];
  died: (how: string) => void;
  changed: () => void;
}

/** Below what answers, which so gets a processor when it has something to do; the addon's threads compute another ten steps below. */
const NICENESS = 5;

export class DeviceEngine {
  readonly supervisor: EngineSupervisor;
  readonly #launch: EngineLaunch;
  #settings: EngineSettings;

  constructor({ settings, surroundings, device, others, died, changed }: DeviceEngineOptions) {
    const { metrics, logger, quarantine, main = ownMain() } = surroundings;
    const env = { ...environment(), ...(device === null ? {} : seeingOnly(device, process.env)) };
    this.#settings = told({ ...settings, device });
    this.#launch = {
      start: forking({ main, env, niceness: NICENESS, isExpendable: true, form: ENGINE_FORM }),
      settings: () => this.#settings,
    };
    const where = device === null ? {} : { device };
    this.supervisor = new EngineSupervisor({
      ...this.#launch,
      trial: () => (others().find(({ supervisor }) => supervisor.isServing) ?? this).#launch,
      changed,
      observer: {
        engineDied: ({ reason, how, requestIds }) => {
          died(how);
          metrics.engineDied(reason);
          logger.error(
            { ...where, reason, how, requestIds },
            'the engine process died; what it worked on is repeated',
          );
        },
        engineRefused: (origin) => {
          if (origin !== undefined) quarantine.add(origin);
          logger.error({ ...origin }, 'the engine process dies of this request, which is refused');
        },
        measured: (measurement) => observe(metrics, measurement),
      },
    });
  }

  /** Rejects with what is wrong with settings or model, and where `signal` ends it; no process is left then. */
  async start(signal: AbortSignal | undefined): Promise<ServedInfo> {
    const giveUp = (): void => void this.supervisor.close();
    try {
      const started = this.supervisor.start();
      if (signal?.aborted === true) giveUp();
      signal?.addEventListener('abort', giveUp, { once: true });
      const found = (await started) as ServedInfo;
      // Found once: it takes the hash of a whole model.
      this.#settings = { ...this.#settings, config: found.config, env: null };
      return found;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof EngineError && error.code === 'invalid_argument')
        throw new UsageError(error.message);
      throw error;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }
}

function ownMain(): string {
  return join(__dirname, `engine-process${extname(__filename)}`);
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
