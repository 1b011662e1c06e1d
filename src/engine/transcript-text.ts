/** Languages written without spaces between words. */
const WITHOUT_SPACES = new Set(['zh', 'yue', 'ja', 'th', 'lo', 'km', 'my', 'bo']);

// In those languages too, foreign words and numbers that meet are parted.
const ENDS_SPACED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}][.,!?]?$/u;
const BEGINS_SPACED = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}]/u;

export function isWrittenWithSpaces(language: string): boolean {
  return !WITHOUT_SPACES.has(language);
}

/** Joins the texts of segments, which begin with a space or not as the model pleases. */
export function joinTexts(texts: readonly string[], language: string): string {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== '');
  if (isWrittenWithSpaces(language)) return parts.join(' ');
  return parts.reduce((joined, part) => {
    const parted = ENDS_SPACED.test(joined) && BEGINS_SPACED.test(part);
    return parted ? `${joined} ${part}` : joined + part;
  }, '');
}

/**
 * The words of a text, which joined are the text: white space and, in languages written without it, marks belong to a word that
 * they stand beside. There it takes time with the square of the length: not for whole files.
 */
export function wordsIn(text: string, language: string): string[] {
  if (isWrittenWithSpaces(language)) return text.match(/\s*\S+(?:\s+$)?/gu) ?? [];
  const words: string[] = [];
  for (const { segment, isWordLike } of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    const before = words.at(-1);
    if (isWordLike === true || before === undefined || /\s$/u.test(before)) words.push(segment);
    else words[words.length - 1] = before + segment;
  }
  return words;
}
