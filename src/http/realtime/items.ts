/** The items of a session: an utterance each, with the text that was sent of it. */
import { TextJoiner } from '../../engine/transcript-text.js';
import type { FinalResult } from '../../live/events.js';
import { randomId } from '../../ledger/ids.js';

export interface SessionItem {
  id: string;
  /** Of the item before it; null: it is the first. */
  previousId: string | null;
  startSeconds: number;
  /** Whether its client was notified of its start, and is to be notified of its end. */
  isAnnounced: boolean;
  /** Its utterance has ended. */
  isCommitted: boolean;
  /** All deltas so far. */
  transcript: string;
  joiner: TextJoiner | null;
  language: string | null;
  logprobs: Logprob[];
  /** Of a stretch whose text could not be had. */
  error: { code: string; message: string } | null;
}

export interface Logprob {
  token: string;
  logprob: number;
  bytes: number[];
}

const FILLER = 1e-6;

export class Items {
  readonly #byUtterance = new Map<number, SessionItem>();
  #lastCommitted: string | null = null;

  begin(utterance: number, startSeconds: number, isAnnounced: boolean): SessionItem {
    const item: SessionItem = {
      ...{ id: randomId('item'), previousId: null, startSeconds, isAnnounced },
      ...{ isCommitted: false, transcript: '', joiner: null, language: null, logprobs: [], error: null },
    };
    this.#byUtterance.set(utterance, item);
    return item;
  }

  of(utterance: number): SessionItem | undefined {
    return this.#byUtterance.get(utterance);
  }

  /** Gives the item its place in the order. */
  commit(item: SessionItem): void {
    item.isCommitted = true;
    item.previousId = this.#lastCommitted;
    this.#lastCommitted = item.id;
  }

  end(utterance: number): void {
    this.#byUtterance.delete(utterance);
  }

  /** Drops the item of the running utterance. */
  clear(): void {
    for (const [utterance, item] of this.#byUtterance) if (!item.isCommitted) this.#byUtterance.delete(utterance);
  }
}

/** The text that a result adds to its item. */
export function addTo(item: SessionItem, { text, language, segments, continuesWord }: FinalResult): string {
  if (text === '') return '';
  item.joiner ??= new TextJoiner(language);
  item.language ??= language;
  const delta = item.joiner.add(text, continuesWord);
  item.transcript += delta;
  for (const { text: token, probability } of segments.flatMap(({ words = [] }) => words)) {
    const bytes = [...Buffer.from(token)];
    item.logprobs.push({ token, logprob: Math.log(Math.max(FILLER, probability)), bytes });
  }
  return delta;
}
