import { isLanguageCode } from '../engine/languages.js';
import type { EngineInfo } from '../engine/types.js';
import type { LanguageSupport } from './language-support.js';
import type { Prices } from './price.js';

/** The abilities of the installed models; another model may offer something else. */
export interface Offer {
  /** That are spoken; ISO 639-1. */
  languages: readonly string[];
  /** That at least one of them can be translated into. */
  targets: readonly string[];
  /** Whether speakers can be distinguished, in whatever language. */
  diarizes: boolean;
  /** Whether words have times. */
  alignsWords: boolean;
  prices: Prices;
}

const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz');
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter(isLanguageCode);

export function offerOf({ info, settings }: { info: EngineInfo; settings: Prices }, support: LanguageSupport): Offer {
  const { languages, alignsWords } = info;
  const { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute } = settings;
  return {
    languages,
    targets: CODES.filter((to) => languages.some((from) => from !== to && support.covers(from, to))),
    diarizes: support.diarizesAny(),
    alignsWords,
    prices: { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute },
  };
}
