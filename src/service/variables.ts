/** The environment variables of this service. An unknown VERBATIM_* variable stops the start. */
import { closest, distance } from 'fastest-levenshtein';
import { SetupError } from '../errors.js';
import type { SettingGroup } from '../setting-in-force.js';

/** By what they are about; docs/operations.md lists them in this order. */
export const VARIABLE_GROUPS = {
  listening: [
    'VERBATIM_HOST',
    'VERBATIM_PORT',
    'VERBATIM_AGENT_PORT',
    'VERBATIM_WYOMING_HOST',
    'VERBATIM_WYOMING_PORT',
    'VERBATIM_WYOMING_KEY',
  ],
  storage: ['VERBATIM_DATA_DIR', 'VERBATIM_DATABASE', 'VERBATIM_DATABASE_CONNECTIONS', 'VERBATIM_MODELS_DIR'],
  models: ['VERBATIM_MODEL', 'VERBATIM_AUTO_MODEL', 'VERBATIM_MODEL_MEMORY', 'VERBATIM_MODEL_IDLE_SECONDS'],
  device: [
    'VERBATIM_DEVICE',
    'VERBATIM_SLOTS',
    'VERBATIM_THREADS',
    'VERBATIM_ACCEL',
    'VERBATIM_SPEECH_DECODER',
    'VERBATIM_COMPUTE',
    'VERBATIM_WEIGHT_CACHE',
    'VERBATIM_BATCH',
  ],
  audio: [
    'VERBATIM_VAD',
    'VERBATIM_FFMPEG',
    'VERBATIM_SPEAKERS',
    'VERBATIM_SPEAKER_SEGMENTATION',
    'VERBATIM_SPEAKER_EMBEDDING',
    'VERBATIM_TRANSLATION_BACKEND',
  ],
  limits: [
    'VERBATIM_MAX_BACKLOG_SECONDS',
    'VERBATIM_MAX_AUDIO_SECONDS',
    'VERBATIM_MAX_IN_FLIGHT',
    'VERBATIM_MAX_OPEN_JOBS',
    'VERBATIM_MAX_LIVE_SESSIONS',
    'VERBATIM_MAX_LIVE_SECONDS',
    'VERBATIM_MAX_LIVE_DECODERS',
    'VERBATIM_JOB_RETENTION_HOURS',
    'VERBATIM_LIBRARY_MAX_BYTES',
    'VERBATIM_MAX_CONNECTIONS_PER_ADDRESS',
  ],
  network: ['VERBATIM_WEBHOOK_ALLOW', 'VERBATIM_TRUST_PROXY', 'VERBATIM_CORS_ORIGINS', 'VERBATIM_DASHBOARD'],
  prices: [
    'VERBATIM_CREDITS_PER_MINUTE',
    'VERBATIM_TRANSLATION_CREDITS_PER_MINUTE',
    'VERBATIM_DIARIZATION_CREDITS_PER_MINUTE',
  ],
  secrets: ['VERBATIM_SECRET', 'VERBATIM_METRICS_TOKEN', 'VERBATIM_LOG_LEVEL'],
} as const satisfies Readonly<Record<SettingGroup, readonly string[]>>;

export type Variable = (typeof VARIABLE_GROUPS)[SettingGroup][number];

export const VARIABLES: readonly Variable[] = Object.values(VARIABLE_GROUPS).flat();

/** Variables of the CMake build. An image or a shell that builds the addon may have them in its environment. */
const BUILD_VARIABLES: readonly string[] = [
  'VERBATIM_CUDA',
  'VERBATIM_ONEDNN',
  'VERBATIM_WHISPER_DIR',
  'VERBATIM_SANITIZE',
  'VERBATIM_FUZZ',
];

/** Variables of the previous version that are no longer read, and why. */
export const RETIRED_VARIABLES: Readonly<Record<string, string>> = {
  VERBATIM_ENGINE_PROCESS: 'the engine always runs in a process of its own',
};

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The variables of this list that are set. */
export function setVariables<Name extends Variable>(
  names: readonly Name[],
  env: EnvironmentVariables,
): Partial<Record<Name, string>> {
  const set: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined) set[name] = value;
  }
  return set;
}

/** Wrong usage, which exits with code 2. */
export class UsageError extends SetupError {
  override readonly name: string = 'UsageError';
}

/** A bad value. The message names the variable, the value and what is allowed. */
export class ConfigError extends UsageError {
  override readonly name = 'ConfigError';
  constructor(variable: string, value: string, allowed: string) {
    super(`${variable} is "${value}"; allowed: ${allowed}.`);
  }
}

/** Throws UsageError. The value of an unknown variable is not shown, because the name may be a misspelt secret. */
export function refuseUnknown(env: EnvironmentVariables): void {
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('VERBATIM_')) continue;
    if (isServiceLink(name, value)) throw serviceLink(name);
    if (!isKnown(name)) throw new UsageError(`${name} is not a setting of this service${nearest(name)}.`);
  }
}

/** A warning for each variable that is set but no longer has an effect. */
export function retiredVariables(env: EnvironmentVariables): string[] {
  const set = Object.entries(RETIRED_VARIABLES).filter(([name]) => (env[name] ?? '') !== '');
  return set.map(([name, why]) => `${name} is ignored: ${why}. The next version will refuse it.`);
}

function isKnown(name: string): boolean {
  return (VARIABLES as readonly string[]).includes(name) || BUILD_VARIABLES.includes(name) || name in RETIRED_VARIABLES;
}

function nearest(name: string): string {
  const near = closest(name, VARIABLES);
  return distance(name, near) <= name.length / 3 ? `; the nearest name is ${near}` : '';
}

/**
 * Whether Kubernetes set the variable: for a Service named "verbatim" it gives every pod of the namespace such
 * variables.
 */
function isServiceLink(name: string, value = ''): boolean {
  return /^(tcp|udp|sctp):\/\//.test(value) || /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)/.test(name);
}

function serviceLink(name: string): UsageError {
  return new UsageError(
    `${name} is what Kubernetes sets for a Service, not a setting: put "enableServiceLinks: false" into the pod's ` +
      'spec, or give the Service a name that does not begin with "verbatim".',
  );
}
