import type { TranscriptionOptions } from './options.js';

/** What a transcription costs: every started minute of audio, with surcharges for what else was done. */
export interface Prices {
  creditsPerMinute: number;
  /** On top, where a model translated. */
  translationCreditsPerMinute: number;
  /** On top, where speakers were told. */
  diarizationCreditsPerMinute: number;
}

export interface PaidWork {
  translated: boolean;
  diarized: boolean;
}

export function creditsFor(prices: Prices, seconds: number, { translated, diarized }: PaidWork): number {
  const { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute } = prices;
  const perMinute =
    creditsPerMinute +
    (translated ? translationCreditsPerMinute : 0) +
    (diarized ? diarizationCreditsPerMinute : 0);
  return startedMinutes(seconds) * perMinute;
}

/** What so much audio can cost at most; `language` is null where it is yet to be detected. */
export function mostCreditsFor(
  prices: Prices,
  seconds: number,
  { language, translateTo, diarize }: Pick<TranscriptionOptions, 'language' | 'translateTo' | 'diarize'>,
): number {
  const translated = translateTo !== null && translateTo !== language;
  return creditsFor(prices, seconds, { translated, diarized: diarize });
}

export function startedMinutes(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / 60));
}
