/** How many sessions the machine carries at their deadlines, by what their results cost. */
import { VerbatimError } from '../errors.js';
import type { FinalMeasurement } from './utterance-decoder.js';

/** Of the lanes, the part that final results may take if all sessions speak at once. */
const SHARE = 0.7;
/** Audio after which a measurement counts half. */
const HALF_LIFE_SECONDS = 60;
/** The weight of the first guess, in seconds of audio. */
const PRIOR_SECONDS = 10;
/** Short utterances cost more than long windows: the first guess, in units of the real-time factor for files. */
const PRIOR_FACTOR = 2;
/** No first guess is higher, in slot seconds for a second: the factor of an engine that has measured nothing is 1. */
const HIGHEST_PRIOR = 0.08;
const RETRY_SECONDS = 10;

class Cost {
  #workSeconds: number;
  #seconds = PRIOR_SECONDS;

  constructor(factor: number) {
    this.#workSeconds = factor * PRIOR_SECONDS;
  }

  add({ seconds, workMs }: FinalMeasurement): void {
    const kept = 2 ** (-seconds / HALF_LIFE_SECONDS);
    this.#workSeconds = this.#workSeconds * kept + workMs / 1000;
    this.#seconds = this.#seconds * kept + seconds;
  }

  /** Slot seconds for a second of speech. */
  get factor(): number {
    return this.#workSeconds / this.#seconds;
  }
}

export interface AdmissionStats {
  sessions: number;
  /** That the machine carries, if the next ones use the model `model`. */
  most: number;
  refused: number;
}

export class LiveAdmission {
  /** By the name of the model. */
  readonly #costs = new Map<string, Cost>();
  readonly #sessions = new Map<string, number>();
  #refused = 0;

  /** Of the engine: its lanes, and the machine's processing seconds for a second of a file. */
  constructor(private readonly engine: () => { slots: number; realTimeFactor: number }) {}

  /**
   * Throws `overloaded` if the machine carries no session more. `instead`: the model of a session that this one takes
   * the place of, and whose place is given back afterwards. The caller gives the place back, once.
   */
  admit(model: string, instead: string | null = null): () => void {
    const others = this.#count - (instead === null ? 0 : 1);
    const load = this.#load - (instead === null ? 0 : this.#shareOf(instead));
    if (others > 0 && load + this.#shareOf(model) > SHARE) {
      this.#refused += 1;
      const message = `The server has ${others} live sessions and keeps up with no more. Try again later.`;
      throw new VerbatimError('overloaded', message, { retryAfterSeconds: RETRY_SECONDS });
    }
    this.#sessions.set(model, (this.#sessions.get(model) ?? 0) + 1);
    return () => this.#leave(model);
  }

  measured(model: string, measurement: FinalMeasurement): void {
    this.#costOf(model).add(measurement);
  }

  stats(model: string): AdmissionStats {
    const left = Math.max(0, Math.floor((SHARE - this.#load) / this.#shareOf(model)));
    return { sessions: this.#count, most: Math.max(1, this.#count + left), refused: this.#refused };
  }

  get #count(): number {
    return [...this.#sessions.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The part of the lanes that all sessions take if all speak. */
  get #load(): number {
    return [...this.#sessions].reduce((sum, [model, count]) => sum + count * this.#shareOf(model), 0);
  }

  #shareOf(model: string): number {
    return this.#costOf(model).factor / Math.max(1, this.engine().slots);
  }

  #costOf(model: string): Cost {
    let cost = this.#costs.get(model);
    if (cost === undefined) {
      const { slots, realTimeFactor } = this.engine();
      cost = new Cost(Math.min(HIGHEST_PRIOR, PRIOR_FACTOR * realTimeFactor * slots));
      this.#costs.set(model, cost);
    }
    return cost;
  }

  #leave(model: string): void {
    const left = (this.#sessions.get(model) ?? 1) - 1;
    if (left > 0) this.#sessions.set(model, left);
    else this.#sessions.delete(model);
  }
}
