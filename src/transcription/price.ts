/** What a transcription costs: every started minute of audio, with a surcharge where a model translated it. */
export interface Prices {
  creditsPerMinute: number;
  /** On top. */
  translationCreditsPerMinute: number;
}

export function creditsFor(prices: Prices, seconds: number, translated: boolean): number {
  const { creditsPerMinute, translationCreditsPerMinute } = prices;
  return startedMinutes(seconds) * (creditsPerMinute + (translated ? translationCreditsPerMinute : 0));
}

/** What so much audio can cost at most; `language` is null where it is yet to be detected. */
export function mostCreditsFor(
  prices: Prices,
  seconds: number,
  { language, translateTo }: { language: string | null; translateTo: string | null },
): number {
  return creditsFor(prices, seconds, translateTo !== null && translateTo !== language);
}

export function startedMinutes(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / 60));
}
