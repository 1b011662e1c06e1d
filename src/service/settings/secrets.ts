/** Settings: secrets, and what the log says. */
import type { SettingTable } from './setting.js';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const SECRETS_SETTINGS = {
  VERBATIM_SECRET: {
    type: 'secret',
    default: '',
    defaultText: 'generated, and kept beside the SQLite file',
    allowed: 'at least 16 characters',
    since: '0.1.0',
    about:
      'API keys are stored as HMAC-SHA256 under this secret; without it they are lost. PostgreSQL needs it set, ' +
      'to the same value on every server and for the command line.',
  },
  VERBATIM_METRICS_TOKEN: {
    type: 'secret',
    default: '',
    defaultText: 'none: `/metrics` is open',
    allowed: 'any text',
    since: '0.1.0',
    about: 'The bearer token that `/metrics` asks for.',
  },
  VERBATIM_LOG_LEVEL: {
    type: 'choice',
    default: 'info',
    values: LOG_LEVELS,
    since: '0.1.0',
    about:
      'The least severe messages that are logged, as lines of JSON on stderr. `info` has a line for each request. ' +
      'No level logs keys or transcripts.',
  },
} as const satisfies SettingTable;
