import { VerbatimError } from '../../errors.js';

/** Passes on each part of a result once, although repeated work reports its parts from the start again. */
export class RepeatFilter<T> {
  #text = '';
  #items = 0;
  /** How much the current attempt has reported. */
  #again = { characters: 0, items: 0 };

  /** Starts an attempt, which reports from the start. */
  begin(): void {
    this.#again = { characters: 0, items: 0 };
  }

  /**
   * Returns the new part. null: nothing is new. Throws `internal_error` if the text differs from earlier text, because
   * text that was passed on cannot be taken back.
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
