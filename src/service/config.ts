/** The only module that reads settings from the environment. They are typed, validated and frozen. */
import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { DEVICE_SETTING, DEVICE_SETTINGS } from '../engine/devices.js';
import type { WyomingOptions } from '../http/wyoming/server.js';
import { isAllowEntry } from '../webhooks/addresses.js';
import { checkDatabase, isPostgres } from './database-address.js';
import { ConfigError, refuseUnknown, type EnvironmentVariables, type Variable } from './variables.js';

export { ConfigError };

export interface Config {
  readonly host: string;
  readonly port: number;
  /** The port where load balancers ask how much work this node should get. null: no port. */
  readonly agentPort: number | null;
  /** The port for Wyoming's clients. null: there is none. */
  readonly wyoming: WyomingOptions | null;
  /** Contains the uploads, the audio of jobs, and the database unless that has a path of its own. */
  readonly dataDir: string;
  /** A file path, or postgres://…, which may contain a password and is never shown. */
  readonly database: string;
  /** The most connections of this server to PostgreSQL. null: DEFAULT_CONNECTIONS. */
  readonly databaseConnections: number | null;
  readonly modelsDir: string;
  /** The name of a speech model of the manifest or of an imported one. null: the manifest's default. */
  readonly model: string | null;
  /** Whether to download a published model if none is named. null: depends on the database, see serve(). */
  readonly autoModel: boolean | null;
  /** Bytes that all models in memory may use. null: a share of the machine's free memory, see startEngines(). */
  readonly modelMemory: number | null;
  /** An unused model is unloaded after this time. 0: never. */
  readonly modelIdleSeconds: number;
  /** As in DEVICE_SETTINGS. */
  readonly deviceSetting: string;
  /**
   * Windows, or units of work of the batched decoder, that one device computes at the same time. null: see slotsOn().
   */
  readonly slots: number | null;
  /** CPU threads per slot. */
  readonly threads: number;
  readonly maxBacklogSeconds: number;
  readonly maxAudioSeconds: number;
  readonly maxInFlight: number;
  /** The most unfinished jobs of one account. */
  readonly maxOpenJobs: number;
  readonly maxLiveSessions: number;
  readonly maxLiveSeconds: number;
  /** Live sessions at a time whose audio ffmpeg decodes. */
  readonly maxLiveDecoders: number;
  /** How long finished jobs are kept. */
  readonly jobRetentionHours: number;
  /** Bytes that the kept transcripts and recordings of one account may take. */
  readonly maxLibraryBytes: number;
  /** Addresses, networks and host names that webhooks may go to beside the public internet. */
  readonly webhookAllow: readonly string[];
  readonly maxConnectionsPerAddress: number;
  /**
   * Addresses and networks of proxies whose X-Forwarded-For is trusted; also `loopback`, `linklocal`, `uniquelocal`.
   */
  readonly trustProxy: readonly string[];
  /** Origins whose web pages may read the API's answers. '*': all. */
  readonly corsOrigins: readonly string[];
  /** Whether the pages under /dashboard exist. */
  readonly dashboard: boolean;
  readonly creditsPerMinute: number;
  readonly translationCreditsPerMinute: number;
  readonly diarizationCreditsPerMinute: number;
  readonly translationBackend: (typeof TRANSLATION_BACKENDS)[number];
  /** 'auto': runs the encoder on the accelerator if the addon has one (CPU only). */
  readonly accelerator: (typeof ACCELERATOR_MODES)[number];
  /** The speech decoder. 'auto': depends on the device, see speechDecoder(). */
  readonly speechDecoder: (typeof SPEECH_DECODERS)[number];
  /** The number type that the batched decoder computes in. */
  readonly compute: (typeof COMPUTE_TYPES)[number];
  /** Whether packed weights are kept beside the models. 'shared': processes share them whatever it costs. */
  readonly weightCache: (typeof WEIGHT_CACHES)[number];
  /** Windows in flight in the batched decoder. null: DEFAULT_BATCH. */
  readonly batch: number | null;
  /** How speech is detected. 'auto': by the model if it is installed, see voiceActivityModel(). */
  readonly voiceActivity: (typeof VOICE_ACTIVITY)[number];
  /** Whether speakers are distinguished if the models and their runtime are installed; see createSpeakerEngine(). */
  readonly speakers: (typeof SPEAKERS)[number];
  /** The names of models. null: the manifest's defaults. */
  readonly speakerSegmentation: string | null;
  readonly speakerEmbedding: string | null;
  /** ffmpeg, for formats that the engine cannot read: a path, or a name in the standard program directories. */
  readonly ffmpeg: string;
  readonly logLevel: LogLevel;
  readonly secret: string | null;
  readonly metricsToken: string | null;
}

export const TRANSLATION_BACKENDS = ['auto', 'ggml', 'ctranslate2'] as const;

export const ACCELERATOR_MODES = ['auto', 'float32', 'off'] as const;

export const SPEECH_DECODERS = ['auto', 'batched', 'whisper.cpp'] as const;

export const COMPUTE_TYPES = ['auto', 'int8', 'bfloat16', 'float32'] as const;

export const WEIGHT_CACHES = ['on', 'shared', 'off'] as const;

export const VOICE_ACTIVITY = ['auto', 'silero', 'energy'] as const;

export const SPEAKERS = ['auto', 'off'] as const;

/** The largest value of VERBATIM_BATCH. */
export const MOST_BATCH = 64;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Throws UsageError. */
export function readConfig(env: EnvironmentVariables, packageRoot: string): Config {
  refuseUnknown(env);
  const text = (name: Variable, fallback: string): string => env[name] || fallback;
  const integer = <T>(name: Variable, fallback: T, minimum: number, maximum: number): number | T => {
    const value = env[name];
    if (value === undefined || value === '') return fallback;
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < minimum || number > maximum) {
      throw new ConfigError(name, value, `an integer from ${minimum} to ${maximum}`);
    }
    return number;
  };
  const onOrOff = (name: Variable): boolean | null => {
    const value = text(name, '');
    return value === '' ? null : oneOf(name, value, ['on', 'off']) === 'on';
  };
  const dataDir = text('VERBATIM_DATA_DIR', 'data');
  const database = checkDatabase(text('VERBATIM_DATABASE', join(dataDir, 'verbatim.db')), 'VERBATIM_DATABASE');
  return Object.freeze({
    host: text('VERBATIM_HOST', '127.0.0.1'),
    port: integer('VERBATIM_PORT', 8080, 0, 65535),
    agentPort: integer('VERBATIM_AGENT_PORT', null, 0, 65535),
    wyoming: wyoming(integer('VERBATIM_WYOMING_PORT', null, 0, 65535), {
      host: text('VERBATIM_WYOMING_HOST', ''),
      key: text('VERBATIM_WYOMING_KEY', ''),
    }),
    dataDir,
    database,
    databaseConnections: connections(integer('VERBATIM_DATABASE_CONNECTIONS', null, 2, 1000), database),
    modelsDir: text('VERBATIM_MODELS_DIR', join(packageRoot, 'models')),
    model: text('VERBATIM_MODEL', '') || null,
    autoModel: onOrOff('VERBATIM_AUTO_MODEL'),
    modelMemory: bytes('VERBATIM_MODEL_MEMORY', text('VERBATIM_MODEL_MEMORY', '')),
    modelIdleSeconds: integer('VERBATIM_MODEL_IDLE_SECONDS', 600, 0, 1_000_000),
    deviceSetting: deviceSetting(text('VERBATIM_DEVICE', 'auto')),
    slots: integer('VERBATIM_SLOTS', null, 1, 256),
    threads: integer('VERBATIM_THREADS', 1, 1, 256),
    maxBacklogSeconds: integer('VERBATIM_MAX_BACKLOG_SECONDS', 36_000, 1, 100_000_000),
    maxAudioSeconds: integer('VERBATIM_MAX_AUDIO_SECONDS', 14_400, 1, 1_000_000),
    maxInFlight: integer('VERBATIM_MAX_IN_FLIGHT', 64, 1, 100_000),
    maxOpenJobs: integer('VERBATIM_MAX_OPEN_JOBS', 100, 1, 100_000),
    maxLiveSessions: integer('VERBATIM_MAX_LIVE_SESSIONS', 8, 1, 100_000),
    maxLiveSeconds: integer('VERBATIM_MAX_LIVE_SECONDS', 14_400, 1, 1_000_000),
    maxLiveDecoders: integer('VERBATIM_MAX_LIVE_DECODERS', 64, 0, 10_000),
    jobRetentionHours: integer('VERBATIM_JOB_RETENTION_HOURS', 72, 1, 87_600),
    maxLibraryBytes:
      bytes('VERBATIM_LIBRARY_MAX_BYTES', text('VERBATIM_LIBRARY_MAX_BYTES', ''), '0') ?? DEFAULT_LIBRARY_BYTES,
    webhookAllow: Object.freeze(webhookAllow(text('VERBATIM_WEBHOOK_ALLOW', ''))),
    maxConnectionsPerAddress: integer('VERBATIM_MAX_CONNECTIONS_PER_ADDRESS', 256, 1, 1_000_000),
    trustProxy: Object.freeze(proxies(text('VERBATIM_TRUST_PROXY', ''))),
    corsOrigins: Object.freeze(origins(text('VERBATIM_CORS_ORIGINS', ''))),
    dashboard: oneOf('VERBATIM_DASHBOARD', text('VERBATIM_DASHBOARD', 'on'), ['on', 'off']) === 'on',
    creditsPerMinute: integer('VERBATIM_CREDITS_PER_MINUTE', 1, 0, 1_000_000),
    translationCreditsPerMinute: integer('VERBATIM_TRANSLATION_CREDITS_PER_MINUTE', 0, 0, 1_000_000),
    diarizationCreditsPerMinute: integer('VERBATIM_DIARIZATION_CREDITS_PER_MINUTE', 0, 0, 1_000_000),
    translationBackend: oneOf(
      'VERBATIM_TRANSLATION_BACKEND',
      text('VERBATIM_TRANSLATION_BACKEND', 'auto'),
      TRANSLATION_BACKENDS,
    ),
    accelerator: oneOf('VERBATIM_ACCEL', text('VERBATIM_ACCEL', 'auto'), ACCELERATOR_MODES),
    speechDecoder: oneOf('VERBATIM_SPEECH_DECODER', text('VERBATIM_SPEECH_DECODER', 'auto'), SPEECH_DECODERS),
    compute: oneOf('VERBATIM_COMPUTE', text('VERBATIM_COMPUTE', 'auto'), COMPUTE_TYPES),
    weightCache: oneOf('VERBATIM_WEIGHT_CACHE', text('VERBATIM_WEIGHT_CACHE', 'on'), WEIGHT_CACHES),
    batch: integer('VERBATIM_BATCH', null, 1, MOST_BATCH),
    voiceActivity: oneOf('VERBATIM_VAD', text('VERBATIM_VAD', 'auto'), VOICE_ACTIVITY),
    speakers: oneOf('VERBATIM_SPEAKERS', text('VERBATIM_SPEAKERS', 'auto'), SPEAKERS),
    speakerSegmentation: text('VERBATIM_SPEAKER_SEGMENTATION', '') || null,
    speakerEmbedding: text('VERBATIM_SPEAKER_EMBEDDING', '') || null,
    ffmpeg: program('VERBATIM_FFMPEG', text('VERBATIM_FFMPEG', 'ffmpeg')),
    logLevel: oneOf('VERBATIM_LOG_LEVEL', text('VERBATIM_LOG_LEVEL', 'info'), LOG_LEVELS),
    secret: secret(text('VERBATIM_SECRET', '')),
    metricsToken: text('VERBATIM_METRICS_TOKEN', '') || null,
  });
}

/** 2 GiB: some 30 hours of recordings as phones make them. */
const DEFAULT_LIBRARY_BYTES = 2 * 1024 ** 3;

const UNITS = ['', 'K', 'M', 'G', 'T'];

/** Parses sizes as systemd does: bytes, or with a letter KiB, MiB, GiB or TiB. */
function bytes(name: Variable, value: string, least = '1M'): number | null {
  if (value === '') return null;
  const size = sizeIn(value);
  if (size >= sizeIn(least) && Number.isSafeInteger(size)) return size;
  const allowed = `a number of bytes, ${least} or more, such as 6G (K, M, G and T are powers of 1024)`;
  throw new ConfigError(name, value, allowed);
}

/** NaN: it is no size. */
function sizeIn(value: string): number {
  const [, number, unit = ''] = /^(\d+)([KMGT]?)$/i.exec(value) ?? [];
  return Number(number) * 1024 ** UNITS.indexOf(unit.toUpperCase());
}

/** Only a PostgreSQL database uses this setting. */
function connections(value: number | null, database: string): number | null {
  if (value === null || isPostgres(database)) return value;
  throw new ConfigError('VERBATIM_DATABASE_CONNECTIONS', String(value), 'only with postgres://… in VERBATIM_DATABASE');
}

/** All or nothing: a host or a key without a port would have no effect. */
function wyoming(port: number | null, { host, key }: { host: string; key: string }): WyomingOptions | null {
  const needsPort = 'only with VERBATIM_WYOMING_PORT';
  if (port === null) {
    if (host !== '') throw new ConfigError('VERBATIM_WYOMING_HOST', host, needsPort);
    if (key !== '') throw new ConfigError('VERBATIM_WYOMING_KEY', '(hidden)', needsPort);
    return null;
  }
  if (key === '') throw new ConfigError('VERBATIM_WYOMING_KEY', '', 'the API key of the account that the port serves');
  return Object.freeze({ host: host === '' ? '127.0.0.1' : host, port, key });
}

function deviceSetting(value: string): string {
  if (!DEVICE_SETTING.test(value)) throw new ConfigError('VERBATIM_DEVICE', value, DEVICE_SETTINGS);
  return value;
}

const NETWORK_NAMES = ['loopback', 'linklocal', 'uniquelocal'];

/** A trusted proxy can claim any client address, so proxies must be listed. A number of hops or "true" is refused. */
function proxies(value: string): string[] {
  const entries = value.split(',').map((entry) => entry.trim());
  if (entries.length === 1 && entries[0] === '') return [];
  if (entries.every((entry) => NETWORK_NAMES.includes(entry) || isNetwork(entry))) return entries;
  const allowed = `IP addresses, networks such as 10.0.0.0/8, ${NETWORK_NAMES.join(', ')}, separated by commas`;
  throw new ConfigError('VERBATIM_TRUST_PROXY', value, allowed);
}

function isNetwork(entry: string): boolean {
  const [address = '', bits, more] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function webhookAllow(value: string): string[] {
  const entries = value.split(',').map((entry) => entry.trim());
  if (entries.length === 1 && entries[0] === '') return [];
  if (entries.every(isAllowEntry)) return entries;
  const allowed = 'IP addresses, networks such as 10.0.0.0/8 and host names, separated by commas';
  throw new ConfigError('VERBATIM_WEBHOOK_ALLOW', value, allowed);
}

/** Origins must be written as browsers write them. Any other form would never match. */
function origins(value: string): string[] {
  const entries = value.split(',').map((entry) => entry.trim());
  if (entries.length === 1 && (entries[0] === '' || entries[0] === '*')) return entries.filter(Boolean);
  if (entries.every(isOrigin)) return entries;
  const allowed = '*, or origins such as https://app.example.com, separated by commas';
  throw new ConfigError('VERBATIM_CORS_ORIGINS', value, allowed);
}

function isOrigin(entry: string): boolean {
  return URL.canParse(entry) && new URL(entry).origin === entry;
}

/** A name without a slash is checked only when the program is needed. */
function program(name: Variable, value: string): string {
  if (!value.includes('/')) return value;
  const path = resolve(value);
  if (isExecutable(path)) return path;
  throw new ConfigError(name, value, 'the path of a program, or the name of one in /usr/local/bin, /usr/bin or /bin');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function oneOf<T extends string>(name: Variable, value: string, allowed: readonly T[]): T {
  const found = allowed.find((known) => known === value);
  if (found === undefined) throw new ConfigError(name, value, allowed.join(', '));
  return found;
}

function secret(value: string): string | null {
  if (value === '') return null;
  if (value.length < 16) throw new ConfigError('VERBATIM_SECRET', '(hidden)', 'at least 16 characters');
  return value;
}
