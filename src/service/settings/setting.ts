/** What the code and docs/settings.md say of a setting, in one place. */

interface Described {
  /** The first version that reads the variable. */
  readonly since: '0.1.0' | '0.2.0';
  /** One paragraph in Markdown, for docs/settings.md. */
  readonly about: string;
  /** The default in words where it is not one fixed value, in Markdown. */
  readonly defaultText?: string;
}

/** A whole number. `default` null: the service chooses, see `defaultText`. */
export interface IntegerSetting extends Described {
  readonly type: 'integer';
  readonly default: number | null;
  readonly minimum: number;
  readonly maximum: number;
}

/** One of a few words. `default` null: the service chooses, see `defaultText`. */
export interface ChoiceSetting extends Described {
  readonly type: 'choice';
  readonly default: string | null;
  readonly values: readonly string[];
}

/** Bytes, or a number with K, M, G or T, which are powers of 1024. */
export interface SizeSetting extends Described {
  readonly type: 'size';
  /** null: the service chooses, see `defaultText`. */
  readonly default: string | null;
  readonly minimum: string;
}

/** Anything else. `default` is empty where the variable is unset by default. */
export interface TextSetting extends Described {
  readonly type: 'address' | 'path' | 'name' | 'list' | 'secret' | 'device';
  readonly default: string;
  /** In words, in Markdown. */
  readonly allowed: string;
}

export type Setting = IntegerSetting | ChoiceSetting | SizeSetting | TextSetting;

/** The settings of a group, by the names of their variables. */
export type SettingTable = Readonly<Record<`VERBATIM_${string}`, Setting>>;

/** What a value may be, as messages and documents say it; in Markdown, which `plainText` undoes. */
export function allowedValues(setting: Setting): string {
  switch (setting.type) {
    case 'integer':
      return `an integer from ${setting.minimum} to ${setting.maximum}`;
    case 'choice':
      return setting.values.map((value) => `\`${value}\``).join(', ');
    case 'size':
      return `a number of bytes, ${setting.minimum} or more, such as 6G (K, M, G and T are powers of 1024)`;
    default:
      return setting.allowed;
  }
}

export function plainText(markdown: string): string {
  return markdown.replaceAll('`', '');
}
