import { atTurnEnd } from '../process/turn-end.js';
import type { WindowUpdate } from '../types.js';

/**
 * Sends each update at the end of its turn of the event loop, unless the answer takes it along: most files have one
 * window.
 */
export class PendingUpdate {
  #update: WindowUpdate | null = null;

  constructor(private readonly send: (update: WindowUpdate) => void) {}

  add(update: WindowUpdate): void {
    if (this.#update === null) atTurnEnd(() => this.#flush());
    else this.#flush();
    this.#update = update;
  }

  /** Takes the update that is not sent yet; null: there is none. */
  take(): WindowUpdate | null {
    const update = this.#update;
    this.#update = null;
    return update;
  }

  #flush(): void {
    const update = this.take();
    if (update !== null) this.send(update);
  }
}
