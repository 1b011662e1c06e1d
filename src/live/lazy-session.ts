import { ClientGoneError } from '../errors.js';
import type { SessionEnd } from './events.js';
import type { LiveReservation, SessionOptions } from './service.js';
import type { LiveSession } from './session.js';

/** A session that begins with the first audio of its client. Until then it is a place only. */
export class LazySessionOf<S extends Pick<LiveSession, 'ended' | 'leave'>, O> {
  #session: S | null = null;
  #isStarting = false;
  #hasLeft = false;

  /** `ended`: of a session that has begun. */
  constructor(
    private place: LiveReservation,
    private readonly ended: (end: SessionEnd) => void,
    private readonly start: (place: LiveReservation, options: O) => Promise<S>,
  ) {}

  get reservation(): LiveReservation {
    return this.place;
  }

  /** null: it has not begun. */
  get session(): S | null {
    return this.#session;
  }

  /** Takes another place before it begins, and gives the first one back. */
  moveTo(other: LiveReservation): void {
    this.place.release();
    this.place = other;
    if (this.#hasLeft) other.release();
  }

  /** Begins it, unless it has begun. Not to be called again before it has resolved. Rejects as the place's start(). */
  async begin(options: O): Promise<S> {
    if (this.#session !== null) return this.#session;
    this.#refuseIfLeft();
    this.#isStarting = true;
    try {
      this.#session = await this.start(this.place, options);
    } finally {
      this.#isStarting = false;
      // The client may have left while the model was loaded.
      if (this.#hasLeft) this.leave();
    }
    void this.#session.ended.then(this.ended);
    return this.#session;
  }

  #refuseIfLeft(): void {
    if (this.#hasLeft) throw new ClientGoneError();
  }

  /** The client has left, or goes without having sent audio. */
  leave(): void {
    this.#hasLeft = true;
    if (this.#session !== null) this.#session.leave();
    else if (!this.#isStarting) this.place.release();
  }
}

/** One whose audio comes in samples. */
export class LazySession extends LazySessionOf<LiveSession, SessionOptions> {
  constructor(place: LiveReservation, ended: (end: SessionEnd) => void) {
    super(place, ended, (own, options) => own.start(options));
  }
}
