/** Processes that decode live streams, of all sessions of the server. */
import { VerbatimError } from '../errors.js';

const RETRY_SECONDS = 10;

export class DecoderPlaces {
  #count = 0;

  constructor(private readonly most: number) {}

  /** Throws `overloaded`. The caller gives the place back, once. */
  take(): () => void {
    if (this.#count >= this.most) {
      const message = `The server decodes ${this.#count} live streams and may decode no more. Send samples (linear16).`;
      throw new VerbatimError('overloaded', message, { retryAfterSeconds: RETRY_SECONDS });
    }
    this.#count += 1;
    return () => (this.#count -= 1);
  }
}
