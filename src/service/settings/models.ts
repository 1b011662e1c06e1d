/** Settings: which speech models serve, and how much memory they may use. */
import { ownCommand } from '../../package-root.js';
import type { SettingTable } from './setting.js';

export const MODELS_SETTINGS = {
  VERBATIM_MODEL: {
    type: 'name',
    default: '',
    defaultText: 'the choice of `models use`, else the bundled model',
    allowed: `the name of an installed speech model (\`${ownCommand} models list\`), or \`bundled\``,
    since: '0.1.0',
    about:
      'The speech model for requests that name none. It takes precedence over `verbatim models use`. The start ' +
      'fails where the model is not installed.',
  },
  VERBATIM_AUTO_MODEL: {
    type: 'choice',
    default: null,
    defaultText: '`on`; with a database of an older version `off`',
    values: ['on', 'off'],
    since: '0.2.0',
    about:
      'Whether the service fetches a published model by itself where nobody has chosen one. It measures the ' +
      'machine, downloads the largest model that is fast enough, tries it, and serves with it; see ' +
      '[Models](models.md).',
  },
  VERBATIM_MODEL_MEMORY: {
    type: 'size',
    default: null,
    defaultText: '70 % of the memory that is free at the start',
    minimum: '1M',
    since: '0.2.0',
    about:
      'The memory that all loaded models may use together, translation and speaker models included. Where it is ' +
      'short, models without requests are unloaded, the least recently used first. A request whose model finds no ' +
      'room is answered 503 `overloaded`.',
  },
  VERBATIM_MODEL_IDLE_SECONDS: {
    type: 'integer',
    default: 600,
    minimum: 0,
    maximum: 1_000_000,
    since: '0.2.0',
    about:
      'How long a model stays in memory after its last request. With `0` it is never unloaded for idleness. The ' +
      'default model always stays.',
  },
} as const satisfies SettingTable;
