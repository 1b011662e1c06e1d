import { VerbatimError } from '../../errors.js';
import type { WorkOrigin } from '../types.js';

const HOUR_MS = 3_600_000;
/** The most files, and the most accounts, that are remembered. The oldest are dropped. */
const MOST_REMEMBERED = 10_000;
/** After this many convictions within an hour, an account's work runs in isolation only: its jobs, or all of it. */
const ISOLATING_CONVICTIONS = { background: 1, all: 2 };

/**
 * Remembers files that crash the engine's process, by their content, and refuses them for an hour. The work of an
 * account that sends several different such files runs in isolation for an hour. Convictions are not counted by API
 * key: isolation of the account covers all its keys, and a new key would start without convictions.
 */
export class Quarantine {
  /** The end of the quarantine by SHA-256, the oldest first. */
  readonly #files = new Map<string, number>();
  /** Times of the latest convictions by account. The account with the oldest conviction comes first. */
  readonly #convictions = new Map<string, number[]>();

  /** `now`: milliseconds. */
  constructor(private readonly now: () => number) {}

  /** Records that work of this origin crashed its process with no other work in it. */
  convict({ sha256, accountId }: Pick<WorkOrigin, 'sha256' | 'accountId'>): void {
    if (sha256 !== null) putLast(this.#files, sha256, this.now() + HOUR_MS);
    const latest = [...this.#recent(accountId), this.now()].slice(-ISOLATING_CONVICTIONS.all);
    putLast(this.#convictions, accountId, latest);
  }

  /** Throws `invalid_audio` for a quarantined file. */
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

  /** Convictions of the account within the last hour. At most two are counted. */
  convictionsOf({ accountId }: Pick<WorkOrigin, 'accountId'>): number {
    return this.#recent(accountId).length;
  }

  /** Whether this work runs in isolation only. */
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
