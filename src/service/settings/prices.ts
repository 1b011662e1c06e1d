/** Settings: what a started minute costs. */
import type { SettingTable } from './setting.js';

export const PRICES_SETTINGS = {
  VERBATIM_CREDITS_PER_MINUTE: {
    type: 'integer',
    default: 1,
    minimum: 0,
    maximum: 1_000_000,
    since: '0.1.0',
    about:
      'Credits for each started minute of audio. With `0` everything but the surcharges is free. See ' +
      '[Accounts](accounts.md).',
  },
  VERBATIM_TRANSLATION_CREDITS_PER_MINUTE: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    since: '0.1.0',
    about: 'Further credits for each started minute where a translation was asked for.',
  },
  VERBATIM_DIARIZATION_CREDITS_PER_MINUTE: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    since: '0.2.0',
    about: 'Further credits for each started minute where speakers were identified.',
  },
} as const satisfies SettingTable;
