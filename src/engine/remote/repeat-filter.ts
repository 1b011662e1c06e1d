import { VerbatimError } from '../../errors.js';

/** Of results that come bit by bit, and from the start again when the work is repeated, each bit once. */
export class RepeatFilter<T> {
  #text = '';
  #items = 0;
  /** What has come of the present attempt. */
  #again = { characters: 0, items: 0 };

  /** An attempt begins from the start. */
  begin(): void {
    this.#again = { characters: 0, items: 0 };
  }

  /**
   * What is new of it; null: nothing. Throws `internal_error` when it is not what came before: nobody can take back
   * what has been passed on.
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
