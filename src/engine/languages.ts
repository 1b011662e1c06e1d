/**
 * Language codes as the API takes and gives them: ISO 639-1, and ISO 639-3 for the two of Whisper's languages that have
 * no two-letter code.
 */

/** Whisper knows these, ISO 639-1 does not. */
const WITHOUT_TWO_LETTERS = new Set(['haw', 'yue']);

/**
 * Where the canonical tag is not the code in use: Whisper, Argos and OPUS file Bokmål under `no`, and Filipino is
 * standard Tagalog, for which alone ISO 639-1 has a code.
 */
const IN_USE: Readonly<Record<string, string>> = { nb: 'no', fil: 'tl' };

const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/**
 * The service's code for an ISO 639-1, 639-2 (B or T) or 639-3 code, in any case, with or without region, script or
 * variant. null: no language of the service.
 */
export function normalizeLanguage(value: string): string | null {
  const subtag = subtagOf(value);
  if (subtag === undefined) return null;
  const known = codes.get(subtag);
  if (known !== undefined) return known;
  const code = codeOf(subtag);
  codes.set(subtag, code);
  return code;
}

/**
 * By subtag, so the number of entries is bounded: one look-up in ICU takes as long as a good part of a request's other
 * work.
 */
const codes = new Map<string, string | null>();

/** Whether it names a language at all, spoken by a model or not; the rest of the tag is not looked at. */
export function namesLanguage(value: string): boolean {
  const subtag = subtagOf(value);
  if (subtag === undefined) return false;
  return normalizeLanguage(value) !== null || names.of(new Intl.Locale(subtag).language) !== undefined;
}

function subtagOf(value: string): string | undefined {
  return /^([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*$/i.exec(value.trim())?.[1]?.toLowerCase();
}

function codeOf(subtag: string): string | null {
  // ICU carries the registry of deprecated, three-letter and encompassed codes.
  const canonical = new Intl.Locale(subtag).language;
  const code = IN_USE[canonical] ?? canonical;
  if (WITHOUT_TWO_LETTERS.has(code)) return code;
  return code.length === 2 && names.of(code) !== undefined ? code : null;
}

/** Whether it is a code of this service, as it writes it. */
export function isLanguageCode(code: string): boolean {
  return normalizeLanguage(code) === code;
}

/** The English name of a code; the code itself where there is none. */
export function languageName(code: string): string {
  return names.of(code) ?? code;
}

/** Further names that Whisper's command line accepts. */
const WHISPER_NAMES: Readonly<Record<string, string>> = {
  bengali: 'bn',
  castilian: 'es',
  flemish: 'nl',
  haitian: 'ht',
  letzeburgesch: 'lb',
  mandarin: 'zh',
  moldavian: 'ro',
  moldovan: 'ro',
  myanmar: 'my',
  nynorsk: 'nn',
  panjabi: 'pa',
  pushto: 'ps',
  sinhalese: 'si',
  tagalog: 'tl',
  valencian: 'ca',
};

/** The code of a language by its English name, in any case, with or without accents; null when there is none. */
export function languageByName(name: string): string | null {
  englishNames ??= codesByName();
  return englishNames.get(plainName(name)) ?? null;
}

let englishNames: ReadonlyMap<string, string> | undefined;

function codesByName(): Map<string, string> {
  const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
  const twoLetters = letters.flatMap((first) => letters.map((second) => first + second));
  const known = [...twoLetters, ...WITHOUT_TWO_LETTERS].filter((code) => isLanguageCode(code));
  return new Map([
    ...known.map((code): [string, string] => [plainName(languageName(code)), code]),
    ...Object.entries(WHISPER_NAMES),
  ]);
}

function plainName(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').trim().toLowerCase();
}

/** Whisper's one code that is not the ISO one: Javanese. */
export function toWhisperLanguage(code: string): string {
  return code === 'jv' ? 'jw' : code;
}

export function fromWhisperLanguage(code: string): string {
  return code === 'jw' ? 'jv' : code;
}

/** Figures by Whisper's codes, by the codes of the service. */
export function byServiceCode(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([code, figure]) => [fromWhisperLanguage(code), figure]));
}
