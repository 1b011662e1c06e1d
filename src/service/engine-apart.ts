/** The engines of one speech model, in a process of their own. */
import { extname, join } from 'node:path';
import { EngineError } from '../engine/native-errors.js';
import { forking } from '../engine/process/child.js';
import { EngineSupervisor } from '../engine/remote/engine-supervisor.js';
import type { Quarantine } from '../engine/remote/quarantine.js';
import { RemoteSpeechEngine } from '../engine/remote/remote-speech-engine.js';
import { RemoteTranslator } from '../engine/remote/remote-translator.js';
import type { Measurement } from '../engine/remote/engine-calls.js';
import type { Backlog } from '../engine/speech/backlog.js';
import type { TranslationObserver } from '../engine/translation/translation-scheduler.js';
import type { EngineObserver } from '../engine/types.js';
import type { EngineSettings, ServedInfo } from './engines.js';
import type { Logger } from './log.js';
import { installedTranslationModels } from './translation-engine.js';
import { UsageError } from './variables.js';

export interface EngineMetrics extends EngineObserver, TranslationObserver {
  engineDied(reason: string): void;
}

/** What all engines of a server share, those that take turns in it, too. */
export interface EngineSurroundings {
  metrics: EngineMetrics;
  logger: Pick<Logger, 'error' | 'info'>;
  quarantine: Quarantine;
  backlog: Backlog;
  /** What the process runs; default: the service's own. */
  main?: string | undefined;
}

export interface EngineApart {
  readonly speech: RemoteSpeechEngine;
  readonly translator: RemoteTranslator;
  readonly info: ServedInfo;
  /** Of the process; null while there is none. */
  readonly pid: number | null;
  /** How it died first; never settles where it does not. */
  readonly died: Promise<string>;
  /** Requests that run finish first. */
  close(): Promise<void>;
}

/** Computes at the priority that the addon gives its threads, as it does in the server's process. */
const NICENESS = 0;

/** Rejects with what is wrong with settings or model, and where `signal` ends it; no process is left then. */
export async function startApart(
  settings: EngineSettings,
  { metrics, logger, quarantine, backlog, main = ownMain() }: EngineSurroundings,
  signal?: AbortSignal,
): Promise<EngineApart> {
  const { config, roots, manifest } = settings;
  let current = told(settings);
  let tellDeath: (how: string) => void = () => undefined;
  const died = new Promise<string>((resolve) => (tellDeath = resolve));
  const supervisor = new EngineSupervisor({
    start: forking({ main, env: environment(), niceness: NICENESS, isExpendable: true }),
    settings: () => current,
    observer: {
      engineDied: ({ reason, how, requestIds }) => {
        tellDeath(how);
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
  const found = await started(supervisor, signal);
  // Found once: it takes the hash of a whole model.
  current = { ...current, config: found.config, env: null };
  const { secret, metricsToken, database, maxBacklogSeconds } = config;
  const withheld = { secret, metricsToken, database, maxBacklogSeconds };
  const info = { ...found, config: Object.freeze({ ...found.config, ...withheld }) };
  return {
    speech: new RemoteSpeechEngine({ process: supervisor, info, quarantine, backlog }),
    translator: new RemoteTranslator(supervisor, installedTranslationModels(roots, manifest)),
    info,
    get pid() {
      return supervisor.pid;
    },
    died,
    close: () => supervisor.close(),
  };
}

function ownMain(): string {
  return join(__dirname, `engine-process${extname(__filename)}`);
}

async function started(supervisor: EngineSupervisor, signal: AbortSignal | undefined): Promise<ServedInfo> {
  const giveUp = (): void => void supervisor.close();
  try {
    const found = supervisor.start();
    if (signal?.aborted === true) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    return (await found) as ServedInfo;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof EngineError && error.code === 'invalid_argument')
      throw new UsageError(error.message);
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
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
