/** The price of a recording of so many seconds. The server holds the same number once it has measured the recording. */
export interface RunPrices {
  creditsPerMinute: number;
  translationCreditsPerMinute: number;
  diarizationCreditsPerMinute: number;
}

export interface Price {
  credits: number;
  /** It may turn out that nothing has to be translated. */
  isAtMost: boolean;
}

export function priceOf(prices: RunPrices, seconds: number, asked: FormData): Price {
  const [language, target] = [asked.get('language') ?? '', asked.get('translate_to') ?? ''];
  const mayTranslate = target !== '' && target !== language;
  const perMinute =
    prices.creditsPerMinute +
    (mayTranslate ? prices.translationCreditsPerMinute : 0) +
    (asked.has('diarize') ? prices.diarizationCreditsPerMinute : 0);
  return {
    credits: Math.max(1, Math.ceil(seconds / 60)) * perMinute,
    isAtMost: mayTranslate && language === '' && prices.translationCreditsPerMinute > 0,
  };
}
