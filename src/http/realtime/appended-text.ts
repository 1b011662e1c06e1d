import { isWrittenWithSpaces, TextJoiner } from '../../engine/transcript-text.js';

/** A text that grows, whose language may change on the way. */
export class AppendedText {
  #language: string | null = null;
  #joiner = new TextJoiner('');

  /** What this text adds to those before it, with the space between them; '' for white space. */
  add(text: string, language: string): string {
    const isFirst = this.#language === null;
    if (language !== this.#language) this.#joiner = new TextJoiner(language);
    const isNew = language !== this.#language;
    const added = this.#joiner.add(text);
    if (added !== '') this.#language = language;
    return isNew && !isFirst && added !== '' && isWrittenWithSpaces(language) ? ` ${added}` : added;
  }
}
