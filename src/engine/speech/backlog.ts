import { VerbatimError } from '../../errors.js';
import type { Clock } from '../clock.js';

export interface BacklogOptions {
  maxSeconds: number;
  clock: Clock;
  /** Processing seconds of the whole box per second of audio. */
  realTimeFactor: () => number;
}

/** A request's audio in the backlog; what has been transcribed of it no longer counts. Releasing it is idempotent. */
export class BacklogPlace {
  private left: number;

  constructor(
    readonly accountId: string,
    readonly audioSeconds: number,
    readonly admittedAt: number,
    private readonly onLess: (place: BacklogPlace) => void,
  ) {
    this.left = audioSeconds;
  }

  get audioLeftSeconds(): number {
    return this.left;
  }

  /** Takes transcribed seconds off. */
  advance(seconds: number): void {
    this.left = Math.max(0, this.left - seconds);
  }

  release(): void {
    this.left = 0;
    this.onLess(this);
  }
}

/** The bound on the seconds of audio that are admitted and not yet transcribed. */
export class Backlog {
  private readonly places = new Set<BacklogPlace>();

  constructor(private readonly options: BacklogOptions) {}

  get maxSeconds(): number {
    return this.options.maxSeconds;
  }

  get seconds(): number {
    let sum = 0;
    for (const place of this.places) sum += place.audioLeftSeconds;
    return sum;
  }

  /**
   * Throws VerbatimError `overloaded` when there is no room. An empty backlog takes a file of any length: one
   * that is longer than the bound would otherwise never be served.
   */
  admit(input: { accountId: string; audioSeconds: number }): BacklogPlace {
    const { audioSeconds } = input;
    const waiting = this.seconds;
    const excess = waiting + audioSeconds - this.options.maxSeconds;
    if (excess > 0 && waiting > 0) throw this.overloaded(Math.min(excess, waiting));
    return this.readmit(input);
  }

  /** Takes a request in once more that was admitted before, room or not. */
  readmit({ accountId, audioSeconds }: { accountId: string; audioSeconds: number }): BacklogPlace {
    if (!(audioSeconds >= 0 && Number.isFinite(audioSeconds))) {
      throw new RangeError(`audioSeconds is ${audioSeconds}; allowed: 0 or more, finite.`);
    }
    const place = new BacklogPlace(accountId, audioSeconds, this.options.clock.now(), (released) =>
      this.places.delete(released),
    );
    this.places.add(place);
    return place;
  }

  private overloaded(excessSeconds: number): VerbatimError {
    const retryAfterSeconds = Math.max(1, Math.ceil(excessSeconds * this.options.realTimeFactor()));
    return new VerbatimError('overloaded', 'The server has as much audio to transcribe as it takes.', {
      retryAfterSeconds,
    });
  }
}
