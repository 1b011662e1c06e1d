/** Languages written without spaces between words. */
const WITHOUT_SPACES = new Set(['zh', 'yue', 'ja', 'th', 'lo', 'km', 'my', 'bo']);

// In those languages too, foreign words and numbers that meet are parted.
const ENDS_SPACED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}][.,!?]?$/u;
const BEGINS_SPACED = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}]/u;

export function isWrittenWithSpaces(language: string): boolean {
  return !WITHOUT_SPACES.has(language);
}

/** What ENDS_SPACED may need of a text's end, in UTF-16 units. */
const END_UNITS = 4;

/** Joins texts that come one by one. */
export class TextJoiner {
  #end = '';

  constructor(private readonly language: string) {}

  /**
   * The text that this one adds to those before it, with the space between them; '' for white space. `continuesWord`:
   * there is none between them.
   */
  add(text: string, continuesWord = false): string {
    const part = text.trim();
    if (part === '') return '';
    const isParted = !continuesWord && this.#end !== '' && this.#isSpacedBefore(part);
    this.#end = (this.#end + part.slice(-END_UNITS)).slice(-END_UNITS);
    return isParted ? ` ${part}` : part;
  }

  #isSpacedBefore(part: string): boolean {
    if (isWrittenWithSpaces(this.language)) return true;
    return ENDS_SPACED.test(this.#end) && BEGINS_SPACED.test(part);
  }
}

/** Joins the texts of segments, which begin with a space or not as the model pleases. */
export function joinTexts(texts: readonly string[], language: string): string {
  const joiner = new TextJoiner(language);
  return texts.map((text) => joiner.add(text)).join('');
}

/**
 * The words of a text, which joined are the text: white space and, in languages written without it, marks belong to a
 * word that they stand beside. There it takes time with the square of the length: not for whole files.
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
