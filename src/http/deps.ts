/** What the HTTP layer stands on; the composition root builds it. */
import type { Diarizer, NoDiarizer, SpeechEngine } from '../engine/types.js';
import type { ScryptCost } from '../ledger/access/password.js';
import type { WallClock } from '../ledger/time.js';
import type { Ledger } from '../ledger/types.js';
import type { Logger } from 'pino';
import type { AddressLimit } from './address-limit.js';
import type { Metrics } from './metrics.js';
import type { ModelShelf } from './model-shelf.js';
import type { InFlightRegistry } from './in-flight.js';
import type { JobService } from '../jobs/job-service.js';
import type { AddressGuard } from '../webhooks/addresses.js';
import type { TranscriptionService } from '../transcription/transcription.js';
import type { Timers } from '../timers.js';
import type { UploadDirectory } from './upload-directory.js';
import type { UploadTurns } from './upload-turns.js';

export interface HttpSettings {
  /** Largest audio file, bytes. */
  maxFileBytes: number;
  /** Requests of one account at a time. */
  maxInFlight: number;
  /** Longest silence of a client in the middle of its upload. */
  uploadIdleMs: number;
  /** For a JSON body to arrive. */
  jsonTimeoutMs: number;
  /** From the first byte of a transcription's upload to its answer. */
  requestTimeoutMs: number;
  /** null: /metrics is open. */
  metricsToken: string | null;
  /** Addresses, networks (CIDR) or `loopback`, `linklocal`, `uniquelocal` of proxies whose X-Forwarded-For is believed. */
  trustProxy: readonly string[];
  /** Origins whose pages may read answers; '*': all. */
  corsOrigins: readonly string[];
  /** Whether there are pages under /dashboard. */
  dashboard: boolean;
  /** Of passwords that are set from now on; older ones get it when they are used. */
  passwordCost: ScryptCost;
}

/** What a variable of the environment has become. */
export interface SettingInForce {
  variable: string;
  /** Never a secret. */
  value: string;
  /** `chosen`: by `verbatim models use`. */
  from: 'environment' | 'default' | 'measured' | 'chosen';
}

/** Which speech model serves, and how another takes its place. */
export interface ModelSwitch {
  state(): ModelState;
  /**
   * Begins to put another speech model in the place of the one that serves; `state()` tells how far that is. Throws ModelRefused with the
   * reason, for an operator, where it does not begin; nothing has changed then. `by`: who wants it, for the log.
   */
  use(name: string, by: string): void;
}

export interface ModelState {
  serving: string;
  /** Since when it does, milliseconds since 1970. */
  since: number;
  /** What the next start serves. */
  afterRestart: string;
  /** null: none is under way. */
  change: ModelChange | null;
  /** How the last one that began has ended; null: there was none. */
  last: { to: string; error: string | null } | null;
}

/** The new model is loaded, and tried; then it serves, while the old one ends the requests that it has. */
export interface ModelChange {
  phase: 'starting' | 'checking' | 'draining';
  from: string;
  to: string;
  /** That the old one has still to end; only of `draining`. */
  requests: number;
}

export interface HttpDeps {
  /** Of the package, as the OpenAPI document tells it. */
  version: string;
  ledger: Ledger;
  engine: SpeechEngine;
  /** Names of the speech models on the disk, whether this process serves them or not. */
  installedModels: () => readonly string[];
  models: ModelSwitch;
  shelf: ModelShelf;
  settingsInForce: () => readonly SettingInForce[];
  diarizer: Diarizer | NoDiarizer;
  transcription: TranscriptionService;
  jobs: JobService;
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
