import type { TranscriptionOptions } from './options.js';

/** The price of a transcription: every started minute of audio, with surcharges for further work. */
export interface Prices {
  creditsPerMinute: number;
  /** On top, where a model translated. */
  translationCreditsPerMinute: number;
  /** On top, where the answer has speakers. */
  diarizationCreditsPerMinute: number;
}

export interface PaidWork {
  translated: boolean;
  diarized: boolean;
}

export function creditsFor(prices: Prices, seconds: number, { translated, diarized }: PaidWork): number {
  const { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute } = prices;
  const perMinute =
    creditsPerMinute + (translated ? translationCreditsPerMinute : 0) + (diarized ? diarizationCreditsPerMinute : 0);
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

/**
 * How many seconds of audio a balance covers for sure, in whole minutes: 60 × ⌊balance ÷ credits of a started minute⌋;
 * undefined: any, where a minute costs nothing.
 */
export function payableSecondsOf(
  prices: Prices,
  balance: number,
  options: Parameters<typeof mostCreditsFor>[2],
): number | undefined {
  const perMinute = mostCreditsFor(prices, 0, options);
  return perMinute === 0 ? undefined : 60 * Math.max(0, Math.floor(balance / perMinute));
}
