/**
 * The lines of a kept transcript near the screen, with an element for each word; the others are plain text, so that a
 * long transcript takes no more memory than a short one.
 */
type TimedPiece = [startMs: number, endMs: number, text: string];

/** The words of each line. A line whose words have no times has none. */
export type LineWords = TimedPiece[][];

export interface WordPlace {
  line: number;
  word: number;
}

const AHEAD = '1500px';

export class TranscriptLines {
  readonly #inSight = new Set<HTMLElement>();
  readonly #starts: number[] = [];

  constructor(
    readonly region: HTMLElement,
    private readonly words: LineWords,
  ) {
    for (const line of this.#lines()) this.#starts.push(Number(line.dataset['start']) * 1000);
    const observer = new IntersectionObserver((entries) => this.#change(entries), { rootMargin: AHEAD });
    for (const group of region.querySelectorAll('.lines-group')) observer.observe(group);
  }

  /** Null: there is no such line. */
  textElement(line: number): HTMLElement | null {
    return this.region.querySelector<HTMLElement>(`#s${line} .line-text`);
  }

  /** The word that is spoken then; null: none is, or its line has no times. */
  at(ms: number): WordPlace | null {
    const line = lastAtMost(this.#starts, ms);
    const words = this.words[line] ?? [];
    const word = lastAtMost(
      words.map(([start]) => start),
      ms,
    );
    const found = words[word];
    return found !== undefined && ms < found[1] ? { line, word } : null;
  }

  element({ line, word }: WordPlace): HTMLElement | null {
    return this.region.querySelector<HTMLElement>(`#s${line} .word[data-word="${word}"]`);
  }

  /** Seconds at which the word in this element begins; null: it is none. */
  startOf(element: Element): number | null {
    const word = element.closest<HTMLElement>('.word');
    const line = word?.closest<HTMLElement>('.text-line');
    if (word === null || !line) return null;
    const found = this.words[indexOf(line)]?.[Number(word.dataset['word'])];
    return found === undefined ? null : found[0] / 1000;
  }

  wordsOf(line: number): TimedPiece[] {
    return this.words[line] ?? [];
  }

  /** New text, and its words. */
  replace(line: number, text: string, words: TimedPiece[]): void {
    const lineText = this.textElement(line);
    if (lineText === null) return;
    this.words[line] = words;
    lineText.textContent = text;
    const group = lineText.closest<HTMLElement>('.lines-group');
    if (group !== null && this.#inSight.has(group)) this.#divide(lineText, line);
  }

  #lines(): Iterable<HTMLElement> {
    return this.region.querySelectorAll<HTMLElement>('.text-line');
  }

  #change(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const group = target as HTMLElement;
      if (isIntersecting) this.#inSight.add(group);
      else this.#inSight.delete(group);
      for (const line of group.querySelectorAll<HTMLElement>('.text-line')) {
        const lineText = line.querySelector<HTMLElement>('.line-text');
        if (lineText === null || lineText.isContentEditable) continue;
        if (isIntersecting) this.#divide(lineText, indexOf(line));
        else if (lineText.querySelector('.word') !== null) lineText.textContent = textIn(lineText);
      }
    }
  }

  /** Each word becomes an element; what is between them stays. */
  #divide(lineText: HTMLElement, line: number): void {
    const words = this.words[line] ?? [];
    if (words.length === 0 || lineText.querySelector('.word') !== null) return;
    const text = textIn(lineText);
    const pieces: (Node | string)[] = [];
    let at = 0;
    for (const [index, [, , word]] of words.entries()) {
      const start = text.indexOf(word, at);
      if (start < 0) return;
      const element = document.createElement('span');
      element.className = 'word';
      element.dataset['word'] = String(index);
      element.textContent = word;
      pieces.push(text.slice(at, start), element);
      at = start + word.length;
    }
    lineText.replaceChildren(...pieces, text.slice(at));
  }
}

export function indexOf(line: HTMLElement): number {
  return Number(line.id.slice(1));
}

export function textIn(lineText: HTMLElement): string {
  return lineText.textContent.replace(/\s+/g, ' ').trim();
}

/** The index of the last of these ascending numbers that is no greater; -1: none is. */
function lastAtMost(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
