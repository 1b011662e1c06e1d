/** Languages as OpenAI's answers name them: in English, in lower case, by Whisper's own names. */

const names = new Intl.DisplayNames(['en'], { type: 'language' });

/** Where Whisper's name is not the one that ICU has. */
const WHISPER_NAMES: Readonly<Record<string, string>> = {
  ...{ bn: 'bengali', mi: 'maori', my: 'myanmar', nn: 'nynorsk', tl: 'tagalog' },
};

export function englishName(code: string): string {
  return WHISPER_NAMES[code] ?? (names.of(code) ?? code).toLowerCase();
}
