/** Bytes of live audio that wait for work, of all sessions of the server. */
import { IdleSignal } from '../idle-signal.js';

/** Over this, no session takes more until others have worked some off. */
export const MOST_WAITING_BYTES = 256 * 2 ** 20;
/** The same of one session. One message may be longer. */
export const MOST_WAITING_BYTES_OF_SESSION = 2 ** 20;

export class InputMemory {
  #bytes = 0;
  readonly #room = new IdleSignal(() => this.hasRoom);

  constructor(private readonly most = MOST_WAITING_BYTES) {}

  get bytes(): number {
    return this.#bytes;
  }

  get hasRoom(): boolean {
    return this.#bytes < this.most;
  }

  take(bytes: number): void {
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.#room.check();
  }

  whenRoom(): Promise<void> {
    return this.#room.whenIdle();
  }
}
