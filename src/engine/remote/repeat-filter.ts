import { VerbatimError } from '../../errors.js';

/** Of results that come bit by bit, and from the start again when the work is repeated, each bit once. */
export class RepeatFilter<T> {
  #text = '';
  #items = 0;
  /** The text of the present attempt so far. */
  #again = { characters: 0, items: 0 };

  /** An attempt begins from the start. */
  begin(): void {
    this.#again = { characters: 0, items: 0 };
  }

  /**
   * The new part of it; null: nothing is new. Throws `internal_error` if it differs from earlier text: text that has
   * been passed on cannot be taken back.
   */
  add(text: string, items: readonly T[]): { text: string; items: T[] } | null {
    const { characters: from, items: fromItem } = this.#again;
    const end = from + text.length;
    const known = text.slice(0, Math.max(0, this.#text.length - from));
    if (this.#text.slice(from, from + known.length) !== known) throw differs();
    this.#again = { characters: end, items: fromItem + items.length };
    const newText = text.slice(known.length);
    const newItems = items.slice(Math.max(0, this.#items - fromItem));
    this.#text += newText;
    this.#items = Math.max(this.#items, this.#again.items);
    return newText === '' && newItems.length === 0 ? null : { text: newText, items: newItems };
  }
}

function differs(): VerbatimError {
  const message = 'The engine had to be started again, and then recognised something else than it had reported before.';
  return new VerbatimError('internal_error', message);
}
