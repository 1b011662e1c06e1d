/**
 * Whose bytes are read from their socket next. On its way to the disk a chunk of an upload (64 KiB) lies in memory
 * several times over, so few uploads have one under way. The bytes of the others wait in their sockets, and TCP slows
 * the clients down. A turn is for a chunk that has arrived: a slow client delays nobody else. Accounts take turns, and
 * within an account the upload that began first goes first.
 */
import { FairQueue, type Waiting } from '../../engine/fair-queue.js';

/** Of one upload. */
export interface UploadTurn {
  /** Calls `begin` when the upload may take a chunk, which may be now. Not while it has a turn or waits for one. */
  take(begin: () => void): void;
  /** Gives the turn back, or no longer waits for one; idempotent. */
  end(): void;
}

interface Upload extends Waiting {
  begin: () => void;
  state: 'away' | 'waiting' | 'taking';
}

/** An account that was away has saved up nothing. */
const LONGEST_CLAIM_TURNS = 0;
const COST = 1;

export class UploadTurns {
  readonly #waiting = new FairQueue<Upload>(LONGEST_CLAIM_TURNS);
  #taking = 0;
  #joined = 0;

  constructor(private readonly maximum: number) {}

  /** For an upload that begins. */
  join(accountId: string): UploadTurn {
    const upload: Upload = { accountId, costLeft: this.#joined++, begin: () => undefined, state: 'away' };
    return { take: (begin) => this.#take(upload, begin), end: () => this.#end(upload) };
  }

  #take(upload: Upload, begin: () => void): void {
    upload.begin = begin;
    upload.state = 'waiting';
    this.#waiting.add(upload);
    this.#beginNext();
  }

  #end(upload: Upload): void {
    const { state } = upload;
    upload.state = 'away';
    if (state === 'waiting') this.#waiting.remove(upload);
    if (state !== 'taking') return;
    this.#taking -= 1;
    this.#beginNext();
  }

  #beginNext(): void {
    while (this.#taking < this.maximum) {
      const upload = this.#waiting.next(() => true);
      if (upload === undefined) return;
      this.#waiting.charge(upload, COST);
      this.#waiting.remove(upload);
      this.#taking += 1;
      upload.state = 'taking';
      upload.begin();
    }
  }
}
