import { atTurnEnd } from '../process/turn-end.js';

/** Tells what of a file is counted while it is measured: of one turn of the event loop the last only, of nothing nothing. */
export class CountTeller {
  #seconds: number | null = null;
  #isHeld = false;

  constructor(private readonly tell: (seconds: number) => void) {}

  /** Whether nothing is covered was asked before the call was sent. */
  count(seconds: number): void {
    if (seconds <= 0) return;
    this.#seconds = seconds;
    if (this.#isHeld) return;
    this.#isHeld = true;
    // The measuring may have ended with this.
    atTurnEnd(() => this.#flush());
  }

  /** The whole duration is told in place of what is not told yet. */
  end(): void {
    this.#seconds = null;
  }

  #flush(): void {
    this.#isHeld = false;
    const seconds = this.#seconds;
    this.#seconds = null;
    if (seconds !== null) this.tell(seconds);
  }
}
