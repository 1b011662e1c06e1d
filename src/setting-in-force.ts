/** A variable of the environment and its value in force. */
export interface SettingInForce {
  variable: string;
  /** Never a secret. */
  value: string;
  /** `option`: of the command line; `chosen`: by `verbatim models use`. */
  from: 'environment' | 'option' | 'default' | 'measured' | 'chosen';
}
