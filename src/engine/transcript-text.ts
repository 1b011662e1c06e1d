/** Languages written without spaces between words. */
const WITHOUT_SPACES = new Set(['zh', 'yue', 'ja', 'th', 'lo', 'km', 'my', 'bo']);

// In those languages too, foreign words and numbers that meet are parted.
const ENDS_SPACED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}][.,!?]?$/u;
const BEGINS_SPACED = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}]/u;

/** Joins the texts of segments, which begin with a space or not as the model pleases. */
export function joinTexts(texts: readonly string[], language: string): string {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== '');
  if (!WITHOUT_SPACES.has(language)) return parts.join(' ');
  return parts.reduce((joined, part) => {
    const parted = ENDS_SPACED.test(joined) && BEGINS_SPACED.test(part);
    return parted ? `${joined} ${part}` : joined + part;
  }, '');
}
