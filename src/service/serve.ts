/** The whole service, from the configuration to the last answer after a stop signal. */
import { join } from 'node:path';
import type { AutomaticModel } from './automatic-model/automatic-model.js';
import { markNewDatabase, startAutomaticModel, wantsAutomaticModel } from './automatic-model/start.js';
import type { AutomaticModelState, MachineModel } from '../models/automatic-model.js';
import { knownModelForMachine } from './automatic-model/model-for-machine.js';
import type { Config } from './config.js';
import { startControl, type Control } from './control.js';
import { ffmpegVersion } from '../engine/media/version.js';
import type { Ledger } from '../ledger/ledger.js';
import { createConfiguredLedger } from './ledger.js';
import { liveAudioSource } from './live-audio.js';
import { createLogger, type Logger } from './log.js';
import type { SettingInForce } from '../setting-in-force.js';
import { Metrics } from '../http/monitoring/metrics.js';
import { startServer, type RunningServer } from './server.js';
import { serverSettings } from './server-settings.js';
import { settingsInForce } from './settings-in-force.js';
import { systemTimers } from '../timers.js';
import { keyIdentity } from '../http/auth/auth.js';
import { VerbatimError } from '../errors.js';
import { startEngines, type ServedEngines } from './served-engines.js';
import { settingVariables } from './tuned.js';
import { retiredVariables, UsageError, VARIABLES, type Variable } from './variables.js';
import { packageRoot } from '../package-root.js';
import { readContext, packageVersion, type ServiceContext } from './context.js';
import { createFirstAccount, demonstrationText, firstStartText, type FirstKeys } from './first-start.js';
import { createDiarizer } from './diarizer.js';
import { missingFfmpegText } from './missing-ffmpeg.js';
import { ModelDownloads } from './model-downloads.js';
import { createSpeakerEngine, speakerModelNames, unloadableSpeakers, type Speakers } from './speaker-engine.js';
import { signInLink } from './sign-in-link.js';

/** How long running requests may take to finish after SIGTERM. */
const DRAIN_MS = 60_000;

/**
 * Resolves after a stop signal, when everything is drained and closed. `settings` override environment variables, for
 * this process and its child processes.
 */
export async function serve(settings: Partial<Record<Variable, string>> = {}): Promise<void> {
  Object.assign(process.env, settings);
  const options = VARIABLES.filter((variable) => settings[variable] !== undefined);
  const context = readContext();
  const { config, roots, manifest } = context;
  const logger = createLogger({ level: config.logLevel });
  const metrics = new Metrics();
  const speakers = createSpeakerEngine(config, roots, manifest, {
    observer: {
      died: ({ how }) => {
        metrics.speakersDied();
        logger.warn({ how }, 'the speaker process died');
      },
    },
  });
  const env = settingVariables(process.env);
  const engines = await startEngines(
    { config, roots, manifest, env, device: null },
    { metrics, logger, speakers: unloadableSpeakers(speakers) },
  );
  const { tuned } = engines.info;
  if (tuned !== null) logger.info(tuned);
  const modelStore = new ModelDownloads({ context: readContext, logger });
  try {
    const ledger = await createConfiguredLedger(config, (error) => logger.error({ err: error }, 'housekeeping failed'));
    try {
      const { ffmpeg } = config;
      await runUntilStopped(config, {
        context,
        ffmpeg,
        engines,
        speakers,
        ledger,
        modelStore,
        logger,
        metrics,
        settingsInForce: () => settingsInForce({ env: process.env, options }, config, engines.info.config),
      });
    } finally {
      await ledger.close();
    }
  } finally {
    await modelStore.close();
    await engines.close();
    await speakers.engine?.close();
  }
}

interface Parts {
  context: ServiceContext;
  ffmpeg: string;
  engines: ServedEngines;
  speakers: Speakers;
  settingsInForce: () => readonly SettingInForce[];
  ledger: Ledger;
  modelStore: ModelDownloads;
  logger: Logger;
  metrics: Metrics;
}

async function runUntilStopped(config: Config, parts: Parts): Promise<void> {
  // Installed before the server's address is printed, so that even an immediate signal drains the server.
  const stopped = stopSignal();
  const { speech: engine, acquire, backlog, models, installed: speechModels, memory: modelMemory } = parts.engines;
  const { context } = parts;
  const liveAudio = await liveAudioSource(config, context.roots, context.manifest);
  const automatic: { model?: AutomaticModel } = {};
  const automaticModel = (): AutomaticModelState | null => automatic.model?.state() ?? null;
  await checkWyomingKey(config, parts.ledger);
  const server = await startServer({
    host: config.host,
    port: config.port,
    agentPort: config.agentPort,
    wyoming: config.wyoming,
    version: packageVersion(),
    uploadBase: join(config.dataDir, 'uploads'),
    diarizer: createDiarizer(parts.speakers, { observer: parts.metrics, memory: parts.engines.memory }),
    jobsDirectory: join(config.dataDir, 'jobs'),
    libraryDirectory: join(config.dataDir, 'library'),
    timers: systemTimers,
    clock: Date.now,
    openLiveAudio: liveAudio.open,
    ...{ engine, acquire, backlog, models, automaticModel, speechModels, modelMemory },
    machineModel: () => machineModelOf(parts.context),
    ...parts,
    settings: serverSettings(config),
  });
  const control = await controlOf(config, server, { ...parts, automaticModel });
  try {
    const keys = await createFirstAccount(parts.ledger);
    if (keys !== null) markNewDatabase(config);
    const isSearching = wantsAutomaticModel(config, parts.engines, parts.logger);
    await announce(config, server, parts, { keys, isSearching });
    if (isSearching) automatic.model = automaticModelOf(parts);
    await stopped;
    parts.logger.info('draining');
  } catch (error) {
    await automatic.model?.close();
    await control?.close();
    await server.close(0);
    throw error;
  }
  await automatic.model?.close();
  await control?.close();
  await drain(server);
  liveAudio.close();
}

/** null: nothing was measured here, or the machine carries no published model. */
function machineModelOf(context: ServiceContext): MachineModel | null {
  try {
    return knownModelForMachine(context);
  } catch {
    return null;
  }
}

/** Before anything listens. Throws UsageError. */
async function checkWyomingKey({ wyoming }: Config, ledger: Ledger): Promise<void> {
  if (wyoming === null) return;
  try {
    await keyIdentity({ ledger }, wyoming.key);
  } catch (error) {
    if (error instanceof VerbatimError) throw new UsageError(`VERBATIM_WYOMING_KEY: ${error.message}`);
    throw error;
  }
}

/** A server without this socket serves too, but the command line cannot change its model. */
async function controlOf(
  { dataDir }: Config,
  { url }: RunningServer,
  { engines, ledger, logger, automaticModel }: Parts & { automaticModel: () => AutomaticModelState | null },
): Promise<Control | null> {
  const { models } = engines;
  const { operators } = ledger;
  try {
    return await startControl({ dataDir, port: Number(new URL(url).port), models, operators, automaticModel });
  } catch (err) {
    logger.warn({ err }, 'no socket for `verbatim models use`');
    return null;
  }
}

interface FirstWords {
  /** null: the database already had accounts. */
  keys: FirstKeys | null;
  /** Whether the server looks for a published model. */
  isSearching: boolean;
}

async function announce(
  config: Config,
  { url, agentPort, wyomingPort }: RunningServer,
  parts: Parts,
  { keys, isSearching }: FirstWords,
): Promise<void> {
  const { ledger, logger, engines, speakers } = parts;
  const { speech: engine, translationModels, info } = engines;
  console.log(`listening on ${url}`);
  const { modelName, isDemonstration, voiceActivity } = engine.info;
  const demonstration = isDemonstration ? demonstrationText(modelName, isSearching) : null;
  if (keys !== null) {
    const link = config.dashboard ? await signInLink(ledger, keys.accountId, url) : null;
    console.log(firstStartText(keys, url, { packageRoot, link, note: demonstration }));
  }
  const { ids, name } = engine.info.devices;
  const ffmpeg = await ffmpegVersion(parts.ffmpeg);
  logger.info(
    {
      model: modelName,
      demonstration: isDemonstration,
      translationModels,
      devices: ids,
      deviceName: name,
      slots: engine.stats().slots,
      decoder: info.decoder,
      voiceActivity,
      speakerModels: speakerModelNames(speakers),
      agentPort,
      wyomingPort,
      ffmpeg,
      recovered: ledger.recovery,
    },
    'ready',
  );
  for (const warning of retiredVariables(process.env)) logger.warn(warning);
  if (demonstration !== null) logger.warn(demonstration);
  if (ffmpeg === null) logger.warn(`${missingFfmpegText(parts.ffmpeg)}. Install ffmpeg, or set VERBATIM_FFMPEG.`);
}

function automaticModelOf({ context, engines, modelStore, logger }: Parts): AutomaticModel {
  const print = (line: string): void => console.log(line);
  return startAutomaticModel({ context, engines, modelStore, logger, print, timers: systemTimers });
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

/** A second signal ends the wait at once. */
async function drain(server: RunningServer): Promise<void> {
  const exitNow = (): void => process.exit(1);
  process.once('SIGINT', exitNow);
  process.once('SIGTERM', exitNow);
  await server.close(DRAIN_MS);
}
