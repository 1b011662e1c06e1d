import { VerbatimError } from '../../errors.js';
import type { WorkOrigin } from '../types.js';

const HOUR_MS = 3_600_000;
/** More files, or accounts, are not remembered: the oldest are dropped. */
const MOST_REMEMBERED = 10_000;
/** Convictions within an hour after which an account's work runs in isolation only: its jobs, and all of it. */
const ISOLATING_CONVICTIONS = { background: 1, all: 2 };

/**
 * Files that crash the engine's process, by their content: refused for an hour. Accounts that send several such files,
 * each different from the others: their work runs in isolation for an hour. Convictions are not counted by API key: a
 * key belongs to one account, so that its account's isolation covers it, and a new key of an isolated account would
 * begin without convictions.
 */
export class Quarantine {
  /** Until when, by SHA-256; the oldest first. */
  readonly #files = new Map<string, number>();
  /** Times of the latest convictions, by account; the account with the oldest conviction first. */
  readonly #convictions = new Map<string, number[]>();

  /** `now`: milliseconds. */
  constructor(private readonly now: () => number) {}

  /** Work of this origin has crashed its process, with nothing else in it. */
  convict({ sha256, accountId }: Pick<WorkOrigin, 'sha256' | 'accountId'>): void {
    if (sha256 !== null) putLast(this.#files, sha256, this.now() + HOUR_MS);
    const latest = [...this.#recent(accountId), this.now()].slice(-ISOLATING_CONVICTIONS.all);
    putLast(this.#convictions, accountId, latest);
  }

  /** Throws `invalid_audio` for a file that is in it. */
  check(origin: Pick<WorkOrigin, 'sha256'> | undefined): void {
    const sha256 = origin?.sha256 ?? null;
    const until = sha256 === null ? undefined : this.#files.get(sha256);
    if (sha256 === null || until === undefined) return;
    const leftMs = until - this.now();
    if (leftMs <= 0) {
      this.#files.delete(sha256);
      return;
    }
    const minutes = Math.ceil(leftMs / 60_000);
    const message =
      `The engine broke down each time it worked on this file, which is therefore not taken for another ${minutes} ` +
      'min. Convert it to another format, or send it later.';
    throw new VerbatimError('invalid_audio', message, { param: 'audio' });
  }

  /** Convictions of the account within the last hour; two at most are counted. */
  convictionsOf({ accountId }: Pick<WorkOrigin, 'accountId'>): number {
    return this.#recent(accountId).length;
  }

  /** Whether the engine works on it in isolation only. */
  isIsolated(origin: Pick<WorkOrigin, 'accountId' | 'background'>): boolean {
    const { background, all } = ISOLATING_CONVICTIONS;
    return this.convictionsOf(origin) >= (origin.background ? background : all);
  }

  #recent(accountId: string): number[] {
    const times = this.#convictions.get(accountId);
    if (times === undefined) return [];
    const recent = times.filter((time) => time > this.now() - HOUR_MS);
    if (recent.length === 0) this.#convictions.delete(accountId);
    return recent;
  }
}

function putLast<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_REMEMBERED && oldest !== undefined) map.delete(oldest);
}
