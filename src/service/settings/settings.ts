/** Every setting of the service, by what it is about. The configuration and docs/settings.md are made from it. */
import type { SettingGroup } from '../../setting-in-force.js';
import { AUDIO } from './audio.js';
import { DEVICE } from './device.js';
import { LIMITS } from './limits.js';
import { LISTENING } from './listening.js';
import { MODELS } from './models.js';
import { NETWORK } from './network.js';
import { PRICES } from './prices.js';
import { SECRETS } from './secrets.js';
import type { SettingTable } from './setting.js';
import { STORAGE } from './storage.js';

export const SETTINGS_BY_GROUP = {
  listening: LISTENING,
  storage: STORAGE,
  models: MODELS,
  device: DEVICE,
  audio: AUDIO,
  limits: LIMITS,
  network: NETWORK,
  prices: PRICES,
  secrets: SECRETS,
} as const satisfies Readonly<Record<SettingGroup, SettingTable>>;

export const SETTINGS = {
  ...LISTENING,
  ...STORAGE,
  ...MODELS,
  ...DEVICE,
  ...AUDIO,
  ...LIMITS,
  ...NETWORK,
  ...PRICES,
  ...SECRETS,
} as const;

export type Settings = typeof SETTINGS;
export type Variable = keyof Settings;

/** The variables whose settings have this type. */
export type VariableOf<Type extends string> = {
  [Name in Variable]: Settings[Name]['type'] extends Type ? Name : never;
}[Variable];

export const VARIABLES = Object.keys(SETTINGS) as readonly Variable[];
