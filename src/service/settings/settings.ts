/** Every setting of the service, by what it is about. The configuration and docs/settings.md are made from it. */
import type { SettingGroup } from '../../setting-in-force.js';
import { AUDIO_SETTINGS } from './audio.js';
import { DEVICE_SETTINGS } from './device.js';
import { LIMITS_SETTINGS } from './limits.js';
import { LISTENING_SETTINGS } from './listening.js';
import { MODELS_SETTINGS } from './models.js';
import { NETWORK_SETTINGS } from './network.js';
import { PRICES_SETTINGS } from './prices.js';
import { SECRETS_SETTINGS } from './secrets.js';
import type { SettingTable } from './setting.js';
import { STORAGE_SETTINGS } from './storage.js';

export const SETTINGS_BY_GROUP = {
  listening: LISTENING_SETTINGS,
  storage: STORAGE_SETTINGS,
  models: MODELS_SETTINGS,
  device: DEVICE_SETTINGS,
  audio: AUDIO_SETTINGS,
  limits: LIMITS_SETTINGS,
  network: NETWORK_SETTINGS,
  prices: PRICES_SETTINGS,
  secrets: SECRETS_SETTINGS,
} as const satisfies Readonly<Record<SettingGroup, SettingTable>>;

export const SETTINGS = {
  ...LISTENING_SETTINGS,
  ...STORAGE_SETTINGS,
  ...MODELS_SETTINGS,
  ...DEVICE_SETTINGS,
  ...AUDIO_SETTINGS,
  ...LIMITS_SETTINGS,
  ...NETWORK_SETTINGS,
  ...PRICES_SETTINGS,
  ...SECRETS_SETTINGS,
} as const;

export type ServiceSettings = typeof SETTINGS;
export type Variable = keyof ServiceSettings;

/** The variables whose settings have this type. */
export type VariableOf<Type extends string> = {
  [Name in Variable]: ServiceSettings[Name]['type'] extends Type ? Name : never;
}[Variable];

export const VARIABLES = Object.keys(SETTINGS) as readonly Variable[];
