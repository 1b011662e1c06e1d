/** Lines of a kept transcript that are corrected in place, and saved one by one in the order in which they are left. */
import { indexOf, textIn, type LineWords, type TranscriptLines } from './transcript-lines.js';

interface Saved {
  version: number;
  segments: { index: number; text: string; words: LineWords[number] }[];
}

interface Place {
  lines: TranscriptLines;
  /** Of the texts of the page. */
  texts: Record<string, string>;
  status: HTMLElement;
  failure: HTMLElement;
  fetch: (url: string, body: object) => Promise<{ status: number; body: unknown }>;
}

export class Corrections {
  #isOn = false;
  #version: number;
  #before = new Map<HTMLElement, string>();
  #queue: Promise<void> = Promise.resolve();

  constructor(private readonly place: Place) {
    const { region } = place.lines;
    this.#version = Number(region.dataset['version']);
    region.addEventListener('focusin', (event) => this.#begin(event));
    region.addEventListener('focusout', (event) => this.#end(event));
    region.addEventListener('keydown', (event) => this.#key(event));
    region.addEventListener('click', (event) => this.#open(event));
    addEventListener('beforeunload', (event) => {
      if (this.#before.size > 0) event.preventDefault();
    });
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  set isOn(isOn: boolean) {
    this.#isOn = isOn;
    const { region } = this.place.lines;
    region.classList.toggle('correcting', isOn);
    for (const lineText of region.querySelectorAll<HTMLElement>('.line-text')) {
      if (isOn) lineText.tabIndex = 0;
      else lineText.removeAttribute('tabindex');
    }
  }

  /** A line becomes editable when it is selected: a browser edits one faster than thousands. */
  #open({ target }: Event): void {
    const lineText = target instanceof Element ? target.closest<HTMLElement>('.line-text') : null;
    if (this.#isOn && lineText !== null && !lineText.isContentEditable) lineText.focus();
  }

  #begin({ target }: Event): void {
    if (!this.#isOn || !(target instanceof HTMLElement) || !target.classList.contains('line-text')) return;
    if (this.#before.has(target)) return;
    const text = target.querySelector('em') === null ? textIn(target) : '';
    this.#before.set(target, text);
    target.textContent = text;
    target.contentEditable = 'plaintext-only';
    target.setAttribute('role', 'textbox');
  }

  #end({ target }: Event): void {
    if (!(target instanceof HTMLElement)) return;
    const before = this.#before.get(target);
    if (before === undefined) return;
    this.#before.delete(target);
    target.contentEditable = 'inherit';
    target.removeAttribute('role');
    const text = textIn(target);
    if (text === before) this.place.lines.replace(lineOf(target), text, this.place.lines.wordsOf(lineOf(target)));
    else this.#queue = this.#queue.then(() => this.#save(target, text));
  }

  #key(event: KeyboardEvent): void {
    const { target, key } = event;
    if (!(target instanceof HTMLElement)) return;
    const before = this.#before.get(target);
    if (before === undefined) return;
    if (key === 'Escape') target.textContent = before;
    else if (key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    target.blur();
    if (key === 'Enter') this.place.lines.textElement(lineOf(target) + 1)?.focus();
  }

  async #save(lineText: HTMLElement, text: string): Promise<void> {
    const { lines, texts, status, failure } = this.place;
    status.textContent = texts['saving'] ?? '';
    const segments = [{ index: lineOf(lineText), text }];
    const answer = await this.place
      .fetch(`${lines.region.dataset['path'] ?? ''}/segments`, { version: this.#version, segments })
      .catch(() => ({ status: 0, body: null }));
    if (answer.status !== 200) {
      status.textContent = '';
      lineText.classList.add('unsaved');
      failure.textContent = answer.status === 409 ? (texts['conflict'] ?? '') : messageOf(answer.body, texts);
      return;
    }
    const saved = answer.body as Saved;
    this.#version = saved.version;
    for (const field of document.querySelectorAll<HTMLInputElement>('input[name="version"]')) {
      field.value = String(saved.version);
    }
    for (const segment of saved.segments) {
      lines.replace(segment.index, segment.text, segment.words);
      lines.textElement(segment.index)?.classList.remove('unsaved');
    }
    failure.textContent = '';
    status.textContent = texts['saved'] ?? '';
  }
}

function lineOf(lineText: HTMLElement): number {
  const line = lineText.closest<HTMLElement>('.text-line');
  return line === null ? -1 : indexOf(line);
}

function messageOf(body: unknown, texts: Record<string, string>): string {
  const { error } = (body ?? {}) as { error?: { message?: string } };
  return error?.message ?? texts['failed'] ?? '';
}
