/** The dependencies of the HTTP layer; the composition root builds them. */
import type { Backlog } from '../../engine/backlog.js';
import type { Diarizer, EngineInfo, EngineStats, NoDiarizer } from '../../engine/types.js';
import type { ScryptCost } from '../../ledger/access/password.js';
import type { WallClock } from '../../ledger/time.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { AutomaticModelState, MachineModel } from '../../models/automatic-model.js';
import type { ModelsInMemory, ModelStore } from '../../models/model-store.js';
import type { ModelSwitch } from '../../models/model-switch.js';
import type { SettingInForce } from '../../setting-in-force.js';
import type { Logger } from 'pino';
import type { AddressLimit } from '../limits/address-limit.js';
import type { Metrics } from '../monitoring/metrics.js';
import type { InFlightRegistry } from '../limits/in-flight.js';
import type { LiveService } from '../../live/service.js';
import type { Library } from '../../library/library.js';
import type { JobService } from '../../jobs/job-service.js';
import type { AddressGuard } from '../../webhooks/addresses.js';
import type { SpeechModelDirectory } from '../../transcription/engine-lease.js';
import type { TranscriptionService } from '../../transcription/transcription.js';
import type { Timers } from '../../timers.js';
import type { UploadDirectory } from '../upload/upload-directory.js';
import type { UploadTurns } from '../upload/upload-turns.js';

export interface HttpSettings {
  /** Largest audio file, bytes. */
  maxFileBytes: number;
  /** Requests of one account at a time. */
  maxInFlight: number;
  /** Longest silence of a client in the middle of its upload. */
  uploadIdleMs: number;
  /** Seconds of audio of one live session. */
  maxLiveSeconds: number;
  /** For a JSON body to arrive. */
  jsonTimeoutMs: number;
  /** From the first byte of a transcription's upload to its answer. */
  requestTimeoutMs: number;
  /** null: /metrics is open. */
  metricsToken: string | null;
  /**
   * Addresses, networks (CIDR) or `loopback`, `linklocal`, `uniquelocal` of proxies whose X-Forwarded-For is believed.
   */
  trustProxy: readonly string[];
  /** Origins whose pages may read answers; '*': all. */
  corsOrigins: readonly string[];
  /** Whether there are pages under /dashboard. */
  dashboard: boolean;
  /** Of passwords that are set from now on; older ones get it when they are used. */
  passwordCost: ScryptCost;
}

/** Whichever engine serves now, and how much it has to do. */
export interface HttpEngine {
  readonly info: EngineInfo;
  stats(): EngineStats;
}

export interface HttpDeps {
  /** The package's version, as in the OpenAPI document. */
  version: string;
  ledger: Ledger;
  engine: HttpEngine;
  backlog: Pick<Backlog, 'checkRoom'>;
  /** Those that requests may name. */
  speechModels: SpeechModelDirectory;
  models: ModelSwitch;
  /** The state of the search for a published model; null: there is no search. */
  automaticModel: () => AutomaticModelState | null;
  /** The best published model for this machine; null: it was not measured. */
  machineModel: () => MachineModel | null;
  modelsInMemory: () => ModelsInMemory;
  modelStore: ModelStore;
  settingsInForce: () => readonly SettingInForce[];
  diarizer: Diarizer | NoDiarizer;
  transcription: TranscriptionService;
  jobs: JobService;
  library: Library;
  live: LiveService;
  /** Where webhooks may go. */
  webhookGuard: AddressGuard;
  inFlight: InFlightRegistry;
  uploads: UploadDirectory;
  uploadTurns: UploadTurns;
  addresses: AddressLimit;
  logger: Logger;
  metrics: Metrics;
  timers: Timers;
  clock: WallClock;
  settings: HttpSettings;
}
