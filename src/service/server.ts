/** Starts a listening service from its parts, and stops it without losing a request. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Backlog } from '../engine/backlog.js';
import type { LiveAudio, LiveAudioOptions } from '../engine/binding.js';
import type { Diarizer, EngineStats, NoDiarizer, SpeechEngine } from '../engine/types.js';
import { AddressLimit } from '../http/limits/address-limit.js';
import { startAgentCheck, type AgentCheck } from '../http/monitoring/agent-check.js';
import { createApp } from '../http/app/app.js';
import type { HttpDeps, HttpEngine, HttpSettings } from '../http/app/deps.js';
import type { AutomaticModelState, MachineModel } from '../models/automatic-model.js';
import type { ModelSwitch } from '../models/model-switch.js';
import type { SettingInForce } from '../setting-in-force.js';
import { createListener, type ListenerSettings } from '../http/connections/listener.js';
import { startWyoming, type WyomingOptions, type WyomingServer } from '../http/wyoming/server.js';
import { acceptSockets, type Sockets } from '../http/websocket/upgrade.js';
import type { Library } from '../library/library.js';
import { UploadDirectory } from '../http/upload/upload-directory.js';
import { UploadTurns } from '../http/upload/upload-turns.js';
import type { WallClock } from '../ledger/time.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Logger } from './log.js';
import type { Metrics } from '../http/monitoring/metrics.js';
import type { ModelsInMemory, ModelStore } from '../models/model-store.js';
import { LiveService, type LiveSettingsOfServer } from '../live/service.js';
import { InFlightRegistry } from '../http/limits/in-flight.js';
import type { AcquireEngines, ListedSpeechModel, SpeechModelDirectory } from '../transcription/engine-lease.js';
import { Responsiveness } from '../http/monitoring/responsiveness.js';
import { RevocationWatch } from '../http/auth/revocation-watch.js';
import { errorForms, RESOURCES, SOCKETS } from './routes.js';
import { startJobs, type Later } from './jobs.js';
import { startLibrary } from './library.js';
import type { TranscriptKeeper } from '../transcription/keep.js';
import { TranscriptionService, type TranscriptionSettings } from '../transcription/transcription.js';
import type { Timers } from '../timers.js';

/** The most chunks, over all uploads, on their way from a socket to the disk. Enough to keep both busy. */
const UPLOAD_CHUNKS_AT_ONCE = 8;

export interface ServerSettings extends HttpSettings, ListenerSettings, TranscriptionSettings, LiveSettingsOfServer {
  /** The most unfinished jobs of one account. */
  maxOpenJobs: number;
  jobRetentionHours: number;
  /** Of the transcripts and recordings that an account keeps. */
  maxLibraryBytes: number;
  /** Private addresses that webhooks may use; see AddressGuard. */
  webhookAllow: readonly string[];
  /** The most connections of one address. Behind a trusted proxy: the most requests. */
  maxConnectionsPerAddress: number;
}

export interface ServerOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  /** The port for load balancers, see AgentCheck. 0: any free port. null: none. */
  agentPort?: number | null;
  /** The port for Wyoming's clients. null or absent: none. */
  wyoming?: WyomingOptions | null;
  version: string;
  ledger: Ledger;
  /** The engine that serves at the moment. */
  engine: Pick<SpeechEngine, 'info' | 'stats'>;
  /** Acquires this or another model, and the translator, for a whole request. */
  acquire: AcquireEngines;
  /** The models that requests may name. Absent: only the one that serves. */
  speechModels?: SpeechModelDirectory;
  /**
   * The memory limit of all loaded models and their current use, in bytes. `limit` null: no limit is known. Absent: not
   * counted.
   */
  modelMemory?: { limit: number | null; used: number };
  /** The audio of requests and jobs that is not transcribed yet. */
  backlog: Backlog;
  models: ModelSwitch;
  /** The state of the search for a published model. null or absent: there is no search. */
  automaticModel?: () => AutomaticModelState | null;
  /** The best published model for this machine, as it was measured. Absent: it was not. */
  machineModel?: () => MachineModel | null;
  modelStore: ModelStore;
  settingsInForce: () => readonly SettingInForce[];
  diarizer: Diarizer | NoDiarizer;
  /** Opens the audio of live sessions. */
  openLiveAudio: (options: LiveAudioOptions) => LiveAudio;
  /** What decodes live streams in containers: a path, or a name in the directories where programs are. */
  ffmpeg: string;
  logger: Logger;
  metrics: Metrics;
  timers: Timers;
  clock: WallClock;
  settings: ServerSettings;
  /** The directory for uploads that wait for transcription. Each server has its own subdirectory. */
  uploadBase: string;
  /** The directory for the audio of jobs, shared by all servers of the database. */
  jobsDirectory: string;
  /** The directory for kept recordings, shared by all servers of the database. */
  libraryDirectory: string;
}

export interface RunningServer {
  readonly url: string;
  /** null: there is no port for load balancers. */
  readonly agentPort: number | null;
  /** null: there is no port for Wyoming's clients. */
  readonly wyomingPort: number | null;
  /**
   * Drains the server. It notifies load balancers, lets running requests take up to `drainMs`, and answers new ones
   * with 503. Then it stops listening and removes leftover uploads. The caller closes the ledger and the engine.
   */
  close(drainMs: number): Promise<void>;
}

/** After the drain, answers that are being sent get this long to finish. */
const FLUSH_MS = 2000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { metrics, timers } = options;
  const engine = loadedEngine(options);
  const inFlight = new InFlightRegistry({
    maxPerAccount: options.settings.maxInFlight,
    retryAfterSeconds: () => engine.stats().retryAfterSeconds,
    timers,
  });
  const library = startLibrary(options);
  const live = liveService(options, { engine, registry: inFlight, keeper: library.keeping });
  metrics.observe({
    version: options.version,
    served: () => ({ model: engine.info.modelName, devices: engine.info.devices }),
    engineStats: () => engine.stats(),
    models: () => modelsInMemory(options),
    diarizationStats: () => ('stats' in options.diarizer ? options.diarizer.stats() : { waiting: 0, running: 0 }),
    requestsInFlight: () => inFlight.size,
    liveSessions: () => live.stats(engine.info.modelName),
    openJobs: () => options.ledger.jobs.countOpenOfAll(),
    pendingWebhooks: () => options.ledger.webhooks.countPending(),
  });
  const uploads = await UploadDirectory.create(options.uploadBase);
  const transcription = new TranscriptionService({ ...options, keeper: library.keeping });
  const later = startJobs({ ...options, engine }, transcription);
  const { server, sockets, deps } = createServer(options, {
    ...{ engine, inFlight, uploads, transcription, later, live, library },
  });
  let agent: AgentCheck | null = null;
  let wyoming: WyomingServer | null = null;
  try {
    server.listen(options.port, options.host);
    await once(server, 'listening');
    agent = await agentCheck(options, engine, live);
    wyoming = options.wyoming ? await startWyoming(options.wyoming, deps) : null;
  } catch (error) {
    server.close();
    await agent?.close();
    await later.close();
    await library.close();
    await uploads.remove();
    throw error;
  }
  const watches = startWatches(options, inFlight);
  const shutDown = async (drainMs: number): Promise<void> => {
    if (agent !== null) await agent.leave();
    await inFlight.drain(drainMs);
    for (const watch of watches) watch.close();
    sockets.close();
    await wyoming?.close();
    await Promise.all([later.close(), closeConnections(server, timers), agent?.close()]);
    await live.untilKept();
    await library.close();
    await uploads.remove();
  };
  let closed: Promise<void> | undefined;
  const ports = { agentPort: agent?.port ?? null, wyomingPort: wyoming?.port ?? null };
  return { url: urlOf(server), ...ports, close: (drainMs) => (closed ??= shutDown(drainMs)) };
}

function liveService(
  options: ServerOptions,
  { engine, ...more }: { engine: HttpEngine; registry: InFlightRegistry; keeper: TranscriptKeeper },
): LiveService {
  const { acquire, ledger, diarizer, openLiveAudio: openAudio, ffmpeg, settings, metrics, timers, logger } = options;
  const parts = { acquire, ledger, diarizer, openAudio, ffmpeg, settings, timers, ...more };
  return new LiveService({
    ...{ ...parts, engineStats: () => engine.stats(), observer: metrics.live },
    broken: ({ cause }, requestId) => logger.error({ requestId, err: cause }, 'live session failed'),
  });
}

/** The engine's load and the backlog together, for HTTP. */
function loadedEngine({ engine, backlog }: ServerOptions): HttpEngine {
  return {
    get info() {
      return engine.info;
    },
    stats: (): EngineStats => ({ ...engine.stats(), ...backlog.stats() }),
  };
}

function modelsInMemory(options: ServerOptions): ModelsInMemory {
  const { speechModels = onlyServing(options), modelMemory } = options;
  const loaded = speechModels.list().filter((model) => model.loaded);
  return {
    loaded: loaded.map(({ info }) => info.modelName),
    usedBytes: modelMemory?.used ?? 0,
    limitBytes: modelMemory?.limit ?? Infinity,
  };
}

/** For a server that has only one model at a time. */
function onlyServing({ engine, models }: ServerOptions): SpeechModelDirectory {
  const serving = (): ListedSpeechModel => ({ info: engine.info, loaded: true, since: models.state().since });
  return {
    list: () => [serving()],
    find: (name) => (name === engine.info.modelName ? serving() : null),
  };
}

async function agentCheck(
  { host, agentPort: port = null, timers }: ServerOptions,
  engine: HttpEngine,
  live: LiveService,
): Promise<AgentCheck | null> {
  if (port === null) return null;
  return startAgentCheck({ host, port, timers, backlog: () => engine.stats(), liveRoom: () => live.room });
}

interface ServerParts {
  engine: HttpEngine;
  inFlight: InFlightRegistry;
  uploads: UploadDirectory;
  transcription: TranscriptionService;
  later: Later;
  live: LiveService;
  library: Library;
}

function createServer(
  options: ServerOptions,
  parts: ServerParts,
): { server: Server; sockets: Sockets; deps: HttpDeps } {
  const { engine, inFlight, uploads, transcription, later, live, library } = parts;
  const {
    version,
    ledger,
    backlog,
    speechModels = onlyServing(options),
    models,
    automaticModel = () => null,
    machineModel = () => null,
    modelStore,
    settingsInForce,
    diarizer,
  } = options;
  const { logger, metrics, timers, clock, settings } = options;
  const addresses = new AddressLimit(settings.maxConnectionsPerAddress);
  const deps = {
    version,
    ledger,
    engine,
    backlog,
    speechModels,
    models,
    automaticModel,
    machineModel,
    modelsInMemory: () => modelsInMemory(options),
    modelStore,
    settingsInForce,
    diarizer,
    transcription,
    jobs: later.jobs,
    library,
    live,
    webhookGuard: later.guard,
    inFlight,
    uploads,
    uploadTurns: new UploadTurns(UPLOAD_CHUNKS_AT_ONCE),
    addresses,
    logger,
    metrics,
    timers,
    clock,
    settings,
  };
  const server = createListener(createApp(deps, RESOURCES, errorForms(settings)), {
    settings,
    addresses,
    logger,
    metrics,
    timers,
  });
  const routes = SOCKETS.flatMap((make) => make(deps));
  return { server, sockets: acceptSockets(server, routes, deps), deps };
}

/** Starts the periodic checks. */
function startWatches(options: ServerOptions, inFlight: InFlightRegistry): { close(): void }[] {
  const { ledger, logger, metrics, timers } = options;
  const revocations = new RevocationWatch({
    ledger,
    inFlight,
    timers,
    onError: (err) => logger.warn({ err }, 'could not check for revoked keys'),
  });
  const responsiveness = new Responsiveness({
    timers,
    observe: (seconds) => metrics.shellAnswered(seconds),
    onError: (err) => logger.warn({ err }, 'could not measure the response time of the server'),
  });
  return [revocations, responsiveness];
}

async function closeConnections(server: Server, timers: Timers): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const timer = timers.after(FLUSH_MS, () => server.closeAllConnections());
  await closed;
  timer.cancel();
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
