/** The current value of every environment variable, for the operator's page. Secrets are hidden. */
import { SETTING_GROUPS, type SettingInForce } from '../setting-in-force.js';
import type { Config } from './config.js';
import { VARIABLE_GROUPS, type EnvironmentVariables, type Variable } from './variables.js';

type Value = string | number | boolean | null | readonly string[];

/** How each variable is shown. The type makes sure that a new variable is not forgotten. */
const SHOWN: Readonly<Record<Variable, (config: Config) => Value>> = {
  VERBATIM_HOST: ({ host }) => host,
  VERBATIM_PORT: ({ port }) => port,
  VERBATIM_AGENT_PORT: ({ agentPort }) => agentPort,
  VERBATIM_WYOMING_HOST: ({ wyoming }) => wyoming?.host ?? null,
  VERBATIM_WYOMING_PORT: ({ wyoming }) => wyoming?.port ?? null,
  VERBATIM_WYOMING_KEY: ({ wyoming }) => hidden(wyoming?.key ?? null),
  VERBATIM_DATA_DIR: ({ dataDir }) => dataDir,
  VERBATIM_DATABASE: ({ database }) => withoutPassword(database),
  VERBATIM_DATABASE_CONNECTIONS: ({ databaseConnections }) => databaseConnections,
  VERBATIM_MODELS_DIR: ({ modelsDir }) => modelsDir,
  VERBATIM_MODEL: ({ model }) => model,
  VERBATIM_AUTO_MODEL: ({ autoModel }) => autoModel ?? true,
  VERBATIM_MODEL_MEMORY: ({ modelMemory }) => modelMemory,
  VERBATIM_MODEL_IDLE_SECONDS: ({ modelIdleSeconds }) => modelIdleSeconds,
  VERBATIM_DEVICE: ({ deviceSetting }) => deviceSetting,
  VERBATIM_SLOTS: ({ slots }) => slots,
  VERBATIM_THREADS: ({ threads }) => threads,
  VERBATIM_ACCEL: ({ accelerator }) => accelerator,
  VERBATIM_SPEECH_DECODER: ({ speechDecoder }) => speechDecoder,
  VERBATIM_COMPUTE: ({ compute }) => compute,
  VERBATIM_WEIGHT_CACHE: ({ weightCache }) => weightCache,
  VERBATIM_BATCH: ({ batch }) => batch,
  VERBATIM_VAD: ({ voiceActivity }) => voiceActivity,
  VERBATIM_FFMPEG: ({ ffmpeg }) => ffmpeg,
  VERBATIM_SPEAKERS: ({ speakers }) => speakers,
  VERBATIM_SPEAKER_SEGMENTATION: ({ speakerSegmentation }) => speakerSegmentation,
  VERBATIM_SPEAKER_EMBEDDING: ({ speakerEmbedding }) => speakerEmbedding,
  VERBATIM_MAX_BACKLOG_SECONDS: ({ maxBacklogSeconds }) => maxBacklogSeconds,
  VERBATIM_MAX_AUDIO_SECONDS: ({ maxAudioSeconds }) => maxAudioSeconds,
  VERBATIM_MAX_IN_FLIGHT: ({ maxInFlight }) => maxInFlight,
  VERBATIM_MAX_OPEN_JOBS: ({ maxOpenJobs }) => maxOpenJobs,
  VERBATIM_MAX_LIVE_SESSIONS: ({ maxLiveSessions }) => maxLiveSessions,
  VERBATIM_MAX_LIVE_SECONDS: ({ maxLiveSeconds }) => maxLiveSeconds,
  VERBATIM_MAX_LIVE_DECODERS: ({ maxLiveDecoders }) => maxLiveDecoders,
  VERBATIM_JOB_RETENTION_HOURS: ({ jobRetentionHours }) => jobRetentionHours,
  VERBATIM_LIBRARY_MAX_BYTES: ({ maxLibraryBytes }) => maxLibraryBytes,
  VERBATIM_WEBHOOK_ALLOW: ({ webhookAllow }) => webhookAllow,
  VERBATIM_MAX_CONNECTIONS_PER_ADDRESS: ({ maxConnectionsPerAddress }) => maxConnectionsPerAddress,
  VERBATIM_TRUST_PROXY: ({ trustProxy }) => trustProxy,
  VERBATIM_CORS_ORIGINS: ({ corsOrigins }) => corsOrigins,
  VERBATIM_DASHBOARD: ({ dashboard }) => dashboard,
  VERBATIM_CREDITS_PER_MINUTE: ({ creditsPerMinute }) => creditsPerMinute,
  VERBATIM_TRANSLATION_CREDITS_PER_MINUTE: ({ translationCreditsPerMinute }) => translationCreditsPerMinute,
  VERBATIM_DIARIZATION_CREDITS_PER_MINUTE: ({ diarizationCreditsPerMinute }) => diarizationCreditsPerMinute,
  VERBATIM_TRANSLATION_BACKEND: ({ translationBackend }) => translationBackend,
  VERBATIM_LOG_LEVEL: ({ logLevel }) => logLevel,
  VERBATIM_SECRET: ({ secret }) => hidden(secret),
  VERBATIM_METRICS_TOKEN: ({ metricsToken }) => hidden(metricsToken),
};

export interface SettingSources {
  env: EnvironmentVariables;
  /** Variables that were set by an option of the command line. */
  options?: readonly Variable[];
}

/** `tuned`: the configuration that is in effect, with measured settings if they are used. */
export function settingsInForce(
  sources: SettingSources,
  configured: Config,
  tuned: Config = configured,
): SettingInForce[] {
  return SETTING_GROUPS.flatMap((group) =>
    VARIABLE_GROUPS[group].map((variable) => {
      const value = text(SHOWN[variable](tuned));
      const isConfigured = value === text(SHOWN[variable](configured));
      return { variable, group, value, from: isConfigured ? originOf(variable, sources) : changedBy(variable) };
    }),
  );
}

/** The origin of a value that differs from the configured one. */
function changedBy(variable: Variable): SettingInForce['from'] {
  return variable === 'VERBATIM_MODEL' ? 'chosen' : 'measured';
}

function originOf(variable: Variable, { env, options = [] }: SettingSources): SettingInForce['from'] {
  if (options.includes(variable)) return 'option';
  const given = env[variable];
  return given === undefined || given === '' ? 'default' : 'environment';
}

function text(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'object' ? value.join(', ') : String(value);
}

function hidden(secret: string | null): string | null {
  return secret === null ? null : '(hidden)';
}

/** A path stays. An address loses its user and parameters. */
function withoutPassword(database: string): string {
  if (!/^[a-z]+:\/\//.test(database)) return database;
  if (!URL.canParse(database)) return '(hidden)';
  const { protocol, host, pathname } = new URL(database);
  return `${protocol}//${host}${pathname}`;
}
