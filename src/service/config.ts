/** The only module that reads settings from the environment. They are typed, validated and frozen. */
import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { DEVICE_SETTING } from '../engine/devices.js';
import type { WyomingOptions } from '../http/wyoming/server.js';
import { isAllowEntry } from '../webhooks/addresses.js';
import { checkDatabase, isPostgres } from './database-address.js';
import { NETWORK_NAMES } from './settings/network.js';
import { allowedValues, plainText } from './settings/setting.js';
import { SETTINGS, type ServiceSettings, type Variable, type VariableOf } from './settings/settings.js';
import { ConfigError, refuseUnknown, type EnvironmentVariables } from './variables.js';

export { ConfigError };

type TextType = 'address' | 'path' | 'name' | 'list' | 'secret' | 'device';

/** One of the words of a setting. */
type WordOf<Name extends VariableOf<'choice'>> = ServiceSettings[Name]['values'][number];

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
  /** As in SETTINGS. */
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
  readonly translationBackend: WordOf<'VERBATIM_TRANSLATION_BACKEND'>;
  /** 'auto': runs the encoder on the accelerator if the addon has one (CPU only). */
  readonly accelerator: WordOf<'VERBATIM_ACCEL'>;
  /** The speech decoder. 'auto': depends on the device, see speechDecoder(). */
  readonly speechDecoder: WordOf<'VERBATIM_SPEECH_DECODER'>;
  /** The number type that the batched decoder computes in. */
  readonly compute: WordOf<'VERBATIM_COMPUTE'>;
  /** Whether packed weights are kept beside the models. 'shared': processes share them whatever it costs. */
  readonly weightCache: WordOf<'VERBATIM_WEIGHT_CACHE'>;
  /** Windows in flight in the batched decoder. null: DEFAULT_BATCH. */
  readonly batch: number | null;
  /** How speech is detected. 'auto': by the model if it is installed, see voiceActivityModel(). */
  readonly voiceActivity: WordOf<'VERBATIM_VAD'>;
  /** Whether speakers are distinguished if the models and their runtime are installed; see createSpeakerEngine(). */
  readonly speakers: WordOf<'VERBATIM_SPEAKERS'>;
  /** The names of models. null: the manifest's defaults. */
  readonly speakerSegmentation: string | null;
  readonly speakerEmbedding: string | null;
  /** ffmpeg, for formats that the engine cannot read: a path, or a name in the standard program directories. */
  readonly ffmpeg: string;
  readonly logLevel: WordOf<'VERBATIM_LOG_LEVEL'>;
  readonly secret: string | null;
  readonly metricsToken: string | null;
}

/** Throws UsageError. */
export function readConfig(env: EnvironmentVariables, packageRoot: string): Config {
  refuseUnknown(env);
  /** Empty: neither set nor set by default. */
  const text = (name: VariableOf<TextType>): string => env[name] || SETTINGS[name].default;
  const integer = <Name extends VariableOf<'integer'>>(name: Name): number | ServiceSettings[Name]['default'] =>
    integerIn(name, env[name]);
  const choice = <Name extends VariableOf<'choice'>>(name: Name): WordOf<Name> | ServiceSettings[Name]['default'] =>
    choiceIn(name, env[name]);
  const size = (name: VariableOf<'size'>): number | null => bytes(name, env[name] || (SETTINGS[name].default ?? ''));
  const dataDir = text('VERBATIM_DATA_DIR');
  const database = checkDatabase(text('VERBATIM_DATABASE') || join(dataDir, 'verbatim.db'), 'VERBATIM_DATABASE');
  const autoModel = choice('VERBATIM_AUTO_MODEL');
  return Object.freeze({
    host: text('VERBATIM_HOST'),
    port: integer('VERBATIM_PORT'),
    agentPort: integer('VERBATIM_AGENT_PORT'),
    wyoming: wyoming(integer('VERBATIM_WYOMING_PORT'), {
      host: env['VERBATIM_WYOMING_HOST'] ?? '',
      key: text('VERBATIM_WYOMING_KEY'),
    }),
    dataDir,
    database,
    databaseConnections: connections(integer('VERBATIM_DATABASE_CONNECTIONS'), database),
    modelsDir: text('VERBATIM_MODELS_DIR') || join(packageRoot, 'models'),
    model: text('VERBATIM_MODEL') || null,
    autoModel: autoModel === null ? null : autoModel === 'on',
    modelMemory: size('VERBATIM_MODEL_MEMORY'),
    modelIdleSeconds: integer('VERBATIM_MODEL_IDLE_SECONDS'),
    deviceSetting: deviceSetting(text('VERBATIM_DEVICE')),
    slots: integer('VERBATIM_SLOTS'),
    threads: integer('VERBATIM_THREADS'),
    maxBacklogSeconds: integer('VERBATIM_MAX_BACKLOG_SECONDS'),
    maxAudioSeconds: integer('VERBATIM_MAX_AUDIO_SECONDS'),
    maxInFlight: integer('VERBATIM_MAX_IN_FLIGHT'),
    maxOpenJobs: integer('VERBATIM_MAX_OPEN_JOBS'),
    maxLiveSessions: integer('VERBATIM_MAX_LIVE_SESSIONS'),
    maxLiveSeconds: integer('VERBATIM_MAX_LIVE_SECONDS'),
    maxLiveDecoders: integer('VERBATIM_MAX_LIVE_DECODERS'),
    jobRetentionHours: integer('VERBATIM_JOB_RETENTION_HOURS'),
    maxLibraryBytes: size('VERBATIM_LIBRARY_MAX_BYTES') ?? 0,
    webhookAllow: Object.freeze(list('VERBATIM_WEBHOOK_ALLOW', text('VERBATIM_WEBHOOK_ALLOW'), isAllowEntry)),
    maxConnectionsPerAddress: integer('VERBATIM_MAX_CONNECTIONS_PER_ADDRESS'),
    trustProxy: Object.freeze(list('VERBATIM_TRUST_PROXY', text('VERBATIM_TRUST_PROXY'), isProxy)),
    corsOrigins: Object.freeze(origins(text('VERBATIM_CORS_ORIGINS'))),
    dashboard: choice('VERBATIM_DASHBOARD') === 'on',
    creditsPerMinute: integer('VERBATIM_CREDITS_PER_MINUTE'),
    translationCreditsPerMinute: integer('VERBATIM_TRANSLATION_CREDITS_PER_MINUTE'),
    diarizationCreditsPerMinute: integer('VERBATIM_DIARIZATION_CREDITS_PER_MINUTE'),
    translationBackend: choice('VERBATIM_TRANSLATION_BACKEND'),
    accelerator: choice('VERBATIM_ACCEL'),
    speechDecoder: choice('VERBATIM_SPEECH_DECODER'),
    compute: choice('VERBATIM_COMPUTE'),
    weightCache: choice('VERBATIM_WEIGHT_CACHE'),
    batch: integer('VERBATIM_BATCH'),
    voiceActivity: choice('VERBATIM_VAD'),
    speakers: choice('VERBATIM_SPEAKERS'),
    speakerSegmentation: text('VERBATIM_SPEAKER_SEGMENTATION') || null,
    speakerEmbedding: text('VERBATIM_SPEAKER_EMBEDDING') || null,
    ffmpeg: program('VERBATIM_FFMPEG', text('VERBATIM_FFMPEG')),
    logLevel: choice('VERBATIM_LOG_LEVEL'),
    secret: secret(text('VERBATIM_SECRET')),
    metricsToken: text('VERBATIM_METRICS_TOKEN') || null,
  });
}

/** The error for a value that the table of settings does not allow. */
function refused(name: Variable, value: string): ConfigError {
  return new ConfigError(name, value, plainText(allowedValues(SETTINGS[name])));
}

function integerIn<Name extends VariableOf<'integer'>>(
  name: Name,
  value = '',
): number | ServiceSettings[Name]['default'] {
  const { default: fallback, minimum, maximum } = SETTINGS[name];
  if (value === '') return fallback;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < minimum || number > maximum) throw refused(name, value);
  return number;
}

function choiceIn<Name extends VariableOf<'choice'>>(
  name: Name,
  value = '',
): WordOf<Name> | ServiceSettings[Name]['default'] {
  const { default: fallback, values }: { default: ServiceSettings[Name]['default']; values: readonly WordOf<Name>[] } =
    SETTINGS[name];
  if (value === '') return fallback;
  const found = values.find((known) => known === value);
  if (found === undefined) throw refused(name, value);
  return found;
}

const UNITS = ['', 'K', 'M', 'G', 'T'];

/** Parses sizes as systemd does: bytes, or with a letter KiB, MiB, GiB or TiB. null: none. */
function bytes(name: VariableOf<'size'>, value: string): number | null {
  if (value === '') return null;
  const size = sizeIn(value);
  if (size >= sizeIn(SETTINGS[name].minimum) && Number.isSafeInteger(size)) return size;
  throw refused(name, value);
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
  return Object.freeze({ host: host || SETTINGS.VERBATIM_WYOMING_HOST.default, port, key });
}

function deviceSetting(value: string): string {
  if (!DEVICE_SETTING.test(value)) throw refused('VERBATIM_DEVICE', value);
  return value;
}

/** Entries with commas between them. */
function list(name: VariableOf<'list'>, value: string, isEntry: (entry: string) => boolean): string[] {
  const entries = value.split(',').map((entry) => entry.trim());
  if (entries.length === 1 && entries[0] === '') return [];
  if (entries.every(isEntry)) return entries;
  throw refused(name, value);
}

/** A trusted proxy can claim any client address, so proxies must be listed. A number of hops or "true" is refused. */
function isProxy(entry: string): boolean {
  return NETWORK_NAMES.some((name) => name === entry) || isNetwork(entry);
}

function isNetwork(entry: string): boolean {
  const [address = '', bits, more] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Origins must be written as browsers write them. Any other form would never match. */
function origins(value: string): string[] {
  return value.trim() === '*' ? ['*'] : list('VERBATIM_CORS_ORIGINS', value, isOrigin);
}

function isOrigin(entry: string): boolean {
  return URL.canParse(entry) && new URL(entry).origin === entry;
}

/** A name without a slash is checked only when the program is needed. */
function program(name: Variable, value: string): string {
  if (!value.includes('/')) return value;
  const path = resolve(value);
  if (isExecutable(path)) return path;
  throw refused(name, value);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function secret(value: string): string | null {
  if (value === '') return null;
  if (value.length < 16) throw refused('VERBATIM_SECRET', '(hidden)');
  return value;
}
