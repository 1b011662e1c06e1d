/** What settings are about, in the order in which they are listed. */
export const SETTING_GROUPS = [
  ...(['listening', 'storage', 'models', 'device', 'audio', 'limits', 'network', 'prices', 'secrets'] as const),
] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

/** A variable of the environment and its value in force. */
export interface SettingInForce {
  variable: string;
  group: SettingGroup;
  /** Never a secret. */
  value: string;
  /** `option`: of the command line; `chosen`: by `verbatim models use`. */
  from: 'environment' | 'option' | 'default' | 'measured' | 'chosen';
}
