/** The environment variables of this service. An unknown VERBATIM_* variable stops the start. */
import { closest, distance } from 'fastest-levenshtein';
import { SetupError } from '../errors.js';
import { SETTING_GROUPS, type SettingGroup } from '../setting-in-force.js';
import { SETTINGS_BY_GROUP, VARIABLES, type Variable } from './settings/settings.js';

export { VARIABLES, type Variable };

/** By what they are about, in the order of docs/settings.md. */
export const VARIABLE_GROUPS = Object.fromEntries(
  SETTING_GROUPS.map((group) => [group, Object.keys(SETTINGS_BY_GROUP[group])]),
) as Record<SettingGroup, Variable[]>;

/** Variables of the CMake build. An image or a shell that builds the addon may have them in its environment. */
export const BUILD_VARIABLES: readonly string[] = [
  'VERBATIM_CUDA',
  'VERBATIM_VULKAN',
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
