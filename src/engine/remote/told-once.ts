import { VerbatimError } from '../../errors.js';

/** What is told bit by bit, and from the start again when the work is repeated: each bit is passed on once. */
export class ToldOnce<T> {
  #text = '';
  #items = 0;
  /** What the present attempt has told so far. */
  #again = { characters: 0, items: 0 };

  /** It is told from the start. */
  begin(): void {
    this.#again = { characters: 0, items: 0 };
  }

  /**
   * What is new of it; null: nothing. Throws `internal_error` when it is not what was told before: nobody can take back what
   * has been passed on.
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
  const message =
    'The engine had to be started again, and then heard something else than it had told before.';
  return new VerbatimError('internal_error', message);
}
