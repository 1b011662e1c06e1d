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
  /** The same in live sessions, whose text alone is translated. */
  liveTargets: readonly string[];
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
    targets: targetsOf(languages, (from, to) => support.covers(from, to)),
    liveTargets: targetsOf(languages, (from, to) => support.translatesText(from, to)),
    diarizes: support.diarizesAny(),
    alignsWords,
    prices: { creditsPerMinute, translationCreditsPerMinute, diarizationCreditsPerMinute },
  };
}

/** Languages that at least one of these is translated into. */
export function targetsOf(languages: readonly string[], covers: (from: string, to: string) => boolean): string[] {
  return CODES.filter((to) => languages.some((from) => from !== to && covers(from, to)));
}
