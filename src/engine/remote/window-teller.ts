import type { WindowNews } from './engine-calls.js';

/** Tells all that comes of a window's end at once. */
export class WindowTeller {
  #news: WindowNews | null = null;

  constructor(private readonly tell: (news: WindowNews) => void) {}

  /** Told before anything that is sent in a later microtask: an answer among others. */
  add(news: WindowNews): void {
    const known = this.#news;
    if (known !== null && Object.keys(news).some((sort) => sort in known)) this.#flush();
    if (this.#news === null) queueMicrotask(() => this.#flush());
    this.#news = { ...this.#news, ...news };
  }

  #flush(): void {
    if (this.#news !== null) this.tell(this.#news);
    this.#news = null;
  }
}
