/** What a variable of the environment has become. */
export interface SettingInForce {
  variable: string;
  /** Never a secret. */
  value: string;
  /** `chosen`: by `verbatim models use`. */
  from: 'environment' | 'default' | 'measured' | 'chosen';
}
