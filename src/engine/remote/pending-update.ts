import { atTurnEnd } from '../process/turn-end.js';
import type { WindowUpdate } from '../types.js';

/**
 * Sends each update at the end of its turn of the event loop. An update that is still waiting when the answer is sent
 * goes with the answer: most files have only one window.
 */
export class PendingUpdate {
  #update: WindowUpdate | null = null;

  constructor(private readonly send: (update: WindowUpdate) => void) {}

  add(update: WindowUpdate): void {
    if (this.#update === null) atTurnEnd(() => this.#flush());
    else this.#flush();
    this.#update = update;
  }

  /** Removes and returns the update that was not sent yet. null: there is none. */
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
