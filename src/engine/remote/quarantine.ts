import { VerbatimError } from '../../errors.js';
import type { WorkOrigin } from '../types.js';

const HOUR_MS = 3_600_000;
/** More files are not remembered: the ones that came first are let go of. */
const MOST_FILES = 10_000;

/** Files that have ended the engine's process, each for an hour, by what they hold. */
export class Quarantine {
  /** Until when, by SHA-256; in the order in which they came. */
  readonly #until = new Map<string, number>();

  /** `now`: milliseconds. */
  constructor(private readonly now: () => number) {}

  add({ sha256 }: Pick<WorkOrigin, 'sha256'>): void {
    if (sha256 === null) return;
    this.#until.delete(sha256);
    this.#until.set(sha256, this.now() + HOUR_MS);
    const [oldest] = this.#until.keys();
    if (this.#until.size > MOST_FILES && oldest !== undefined) this.#until.delete(oldest);
  }

  /** Throws `invalid_audio` for a file that is in it. */
  check(origin: Pick<WorkOrigin, 'sha256'> | undefined): void {
    const sha256 = origin?.sha256 ?? null;
    const until = sha256 === null ? undefined : this.#until.get(sha256);
    if (sha256 === null || until === undefined) return;
    const leftMs = until - this.now();
    if (leftMs <= 0) {
      this.#until.delete(sha256);
      return;
    }
    const minutes = Math.ceil(leftMs / 60_000);
    const message =
      `The engine broke down each time it worked on this file, which is therefore not taken for another ${minutes} min. ` +
      'Convert it to another format, or send it later.';
    throw new VerbatimError('invalid_audio', message, { param: 'audio' });
  }
}
