import { atTurnEnd } from '../process/turn-end.js';
import type { WindowNews } from './engine-calls.js';

/** Tells all that comes of a window's end at once: the last of it with the answer, which most files have after one window. */
export class WindowTeller {
  #news: WindowNews | null = null;

  constructor(private readonly tell: (news: WindowNews) => void) {}

  /** Told once all promises of this turn have settled, unless it is taken before. */
  add(news: WindowNews): void {
    const known = this.#news;
    if (known !== null && Object.keys(news).some((sort) => sort in known)) this.#flush();
    if (this.#news === null) atTurnEnd(() => this.#flush());
    this.#news = { ...this.#news, ...news };
  }

  /** What is not told yet, and then is not told; null: nothing. */
  take(): WindowNews | null {
    const news = this.#news;
    this.#news = null;
    return news;
  }

  #flush(): void {
    const news = this.take();
    if (news !== null) this.tell(news);
  }
}
