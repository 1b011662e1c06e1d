/** What a client has set, as live sessions have it. */
import { normalizeLanguage } from '../../engine/languages.js';
import { VerbatimError } from '../../errors.js';
import { DEFAULT_SETTINGS, type LiveSettings, type TurnDetection } from '../../live/options.js';
import type { Delay, RealtimeSettings, Turns } from './session-schema.js';

const LONGEST_SILENCE_MS = { low: 8000, medium: 4000, high: 2000, auto: 4000 } as const;

/** The longest delay is that of the whole utterance. */
const STABLE_SECONDS: Readonly<Record<Delay, LiveSettings['stableSeconds']>> = {
  ...{ minimal: 0, low: 0.5, medium: 1, high: 2 },
  xhigh: null,
};
const DEFAULT_DELAY = 'high';

/** Throws `unsupported_language` for what names no language. */
export function liveSettings(settings: RealtimeSettings): LiveSettings {
  const { language, prompt, turns, includesLogprobs } = settings;
  const code = language === null || language === '' ? null : normalizeLanguage(language);
  if (code === null && language !== null && language !== '') {
    const message = `"${language}" is not an ISO 639 language code that the service knows.`;
    throw new VerbatimError('unsupported_language', message, { param: 'language' });
  }
  return {
    ...{ ...DEFAULT_SETTINGS, language: code, prompt, turns: turnsOf(turns), words: includesLogprobs },
    stableSeconds: STABLE_SECONDS[settings.delay ?? DEFAULT_DELAY],
  };
}

function turnsOf(turns: Turns | null): TurnDetection {
  if (turns === null) return { kind: 'manual' };
  if (turns.type === 'semantic_vad') {
    return { kind: 'semantic', longestSilenceMs: LONGEST_SILENCE_MS[turns.eagerness] };
  }
  const { threshold, prefix_padding_ms: prefixPaddingMs, silence_duration_ms: silenceMs } = turns;
  return { kind: 'silence', threshold, prefixPaddingMs, silenceMs };
}
