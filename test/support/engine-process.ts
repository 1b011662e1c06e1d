/** The real engines in a process of their own, with a tally of its deaths. */
import { join } from 'node:path';
import { readManifest } from '../../src/models/read-manifest.js';
import { packageRoot } from '../../src/package-root.js';
import { Metrics } from '../../src/http/monitoring/metrics.js';
import { readConfig, type Config } from '../../src/service/config.js';
import { startEngines, type ServedEngines, type ServedEnginesOptions } from '../../src/service/served-engines.js';
import { overriding } from './overriding.js';
import { until } from './until.js';

export interface EngineProcess {
  /** What it was started with. */
  config: Config;
  engines: ServedEngines;
  /** Why each has died. */
  deaths: string[];
  logs: Record<string, unknown>[];
  metrics: Metrics;
  /** Called at each death, when what serves then is known. */
  atDeath: (() => void) | undefined;
}

/** Where the model is chosen from the outside, VERBATIM_DATA_DIR is to be named. `options`: as of startEngines(). */
export async function startEngineProcess(
  environment: Record<string, string> = {},
  options: Pick<ServedEnginesOptions, 'room' | 'devices' | 'memoryOf'> = {},
): Promise<EngineProcess> {
  const settings = {
    ...{ VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '2', VERBATIM_THREADS: '1' },
    // The same text on every processor.
    ...{ VERBATIM_ACCEL: 'off', ...environment },
  };
  const config = readConfig(settings, packageRoot);
  const roots = { packageRoot, modelsDir: config.modelsDir };
  const manifest = readManifest(packageRoot, config.modelsDir);
  const deaths: string[] = [];
  const logs: Record<string, unknown>[] = [];
  const metrics = new Metrics();
  const reported: Pick<EngineProcess, 'atDeath'> = { atDeath: undefined };
  const counting = overriding(metrics, {
    engineDied: (reason: string) => {
      deaths.push(reason);
      metrics.engineDied(reason);
      reported.atDeath?.();
    },
  });
  const engines = await startEngines(
    { config, roots, manifest, env: {}, device: null },
    {
      metrics: counting,
      logger: {
        error: (fields: Record<string, unknown>) => void logs.push(fields),
        info: () => undefined,
      } as never,
      ...options,
      main: join(__dirname, 'deadly-engine.ts'),
    },
  );
  return Object.assign(reported, { config, engines, deaths, logs, metrics });
}

/**
 * Sends the process that serves (of several the first) a signal of which it dies, or is taken for dead, and waits until
 * that is known.
 */
export async function strike({ engines, deaths }: EngineProcess, signal: NodeJS.Signals): Promise<void> {
  const before = deaths.length;
  await until(() => engines.pids.length > 0 && engines.speech.stats().slots > 0);
  process.kill(engines.pids[0] ?? 0, signal);
  await until(() => deaths.length > before);
}
