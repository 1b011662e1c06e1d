/**
 * How many sessions the machine carries at their deadlines. The share of a session is what a second of speech costs,
 * its translation and its speakers included, times the part of the time that it is expected to speak. All of these are
 * measured, and begin with a cautious guess.
 */
import { VerbatimError } from '../errors.js';
import type { PaidWork } from '../transcription/price.js';
import { SpeechActivity } from './speech-activity.js';
import type { FinalMeasurement } from './utterance-decoder.js';

/** Of the lanes, the part that final results may take. */
const SHARE = 0.7;
/** Audio after which a measurement counts half. */
const HALF_LIFE_SECONDS = 60;
/** The weight of the first guess, in seconds of audio. */
const PRIOR_SECONDS = 10;
/** Short utterances cost more than long windows: the first guess, in units of the real-time factor for files. */
const PRIOR_FACTOR = 2;
/** No first guess is higher, in slot seconds for a second: the factor of an engine that has measured nothing is 1. */
const HIGHEST_PRIOR = 0.08;
/** Of a translation, and of finding who speaks, in slot seconds for a second of speech. */
const EXTRA_PRIORS: Readonly<Record<keyof PaidWork, number>> = { translated: 0.03, diarized: 0.03 };
const RETRY_SECONDS = 10;

/** What of a session has a surcharge, if it has nothing. */
export const NO_EXTRAS: PaidWork = { translated: false, diarized: false };

/** The part of the time that sessions speak, before any was observed, and the weight of that, in seconds. */
const PRIOR_ACTIVITY = 0.8;
const PRIOR_ACTIVITY_SECONDS = 120;
/** The weight of what other sessions do in the guess at one of them, in seconds. */
const OTHERS_SECONDS = 20;
/** Others that are all silent make nobody expect less than this of the next one. */
const LEAST_OF_OTHERS = 0.1;

/** The work on so much speech. */
export type WorkMeasurement = Pick<FinalMeasurement, 'seconds' | 'workMs'>;

class Cost {
  #workSeconds: number;
  #seconds = PRIOR_SECONDS;

  constructor(factor: number) {
    this.#workSeconds = factor * PRIOR_SECONDS;
  }

  add({ seconds, workMs }: WorkMeasurement): void {
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
  /** That the machine carries, if the next ones use the model `model` and speak as much as those that there are. */
  most: number;
}

/** A session that was admitted. */
export interface AdmittedSession {
  readonly model: string;
  /** Of what it received, so much was speech. */
  spoke(seconds: number): void;
  /** Gives the place back; idempotent. */
  release(): void;
}

interface Place {
  model: string;
  extras: PaidWork;
  activity: SpeechActivity;
}

export interface AdmissionRequest {
  /** One that this one takes the place of, and that is released afterwards. */
  instead?: AdmittedSession | null;
  /** What it has beside its text. */
  extras?: PaidWork;
}

export class LiveAdmission {
  /** By the name of the model. */
  readonly #costs = new Map<string, Cost>();
  readonly #extraCosts: Readonly<Record<keyof PaidWork, Cost>> = {
    translated: new Cost(EXTRA_PRIORS.translated),
    diarized: new Cost(EXTRA_PRIORS.diarized),
  };
  readonly #places = new Map<AdmittedSession, Place>();

  /**
   * Of the engine: its lanes, and the machine's processing seconds for a second of a file. `now`: milliseconds,
   * monotonic.
   */
  constructor(
    private readonly engine: () => { slots: number; realTimeFactor: number },
    private readonly now: () => number,
  ) {}

  /** Throws `overloaded` if the machine carries no session more. */
  admit(model: string, { instead = null, extras = NO_EXTRAS }: AdmissionRequest = {}): AdmittedSession {
    const places = [...this.#places].filter(([session]) => session !== instead).map(([, place]) => place);
    const load = this.#loadOf(places);
    if (places.length > 0 && load + this.#shareOfNext(model, extras) > SHARE) {
      const message = `The server has ${places.length} live sessions and keeps up with no more. Try again later.`;
      throw new VerbatimError('overloaded', message, { retryAfterSeconds: RETRY_SECONDS });
    }
    const activity = new SpeechActivity(this.now());
    const session: AdmittedSession = {
      model,
      spoke: (seconds) => activity.spoke(seconds, this.now()),
      release: () => void this.#places.delete(session),
    };
    this.#places.set(session, { model, extras, activity });
    return session;
  }

  measured(model: string, measurement: FinalMeasurement): void {
    this.#costOf(model).add(measurement);
  }

  /** The work on the translation, or on the speakers, of so much speech. */
  extraMeasured(extra: keyof PaidWork, measurement: WorkMeasurement): void {
    this.#extraCosts[extra].add(measurement);
  }

  stats(model: string): AdmissionStats {
    const left = Math.max(0, Math.floor((SHARE - this.#load) / this.#shareOfNext(model, NO_EXTRAS)));
    const { size: sessions } = this.#places;
    return { sessions, most: Math.max(1, sessions + left) };
  }

  /** Of what final results may take, the part that they are not expected to take: from 1 down to 0. */
  get room(): number {
    return Math.max(0, 1 - this.#load / SHARE);
  }

  /** The part of the lanes that final results of all sessions are expected to take. */
  get #load(): number {
    return this.#loadOf([...this.#places.values()]);
  }

  #loadOf(places: readonly Place[]): number {
    const [others, now] = [this.#activityOfAll(), this.now()];
    const slotSeconds = places.reduce((sum, { model, extras, activity }) => {
      const { speechSeconds, seconds } = activity.observed(now);
      const expected = (speechSeconds + others * OTHERS_SECONDS) / (seconds + OTHERS_SECONDS);
      return sum + this.#factorOf(model, extras) * expected;
    }, 0);
    return slotSeconds / this.#slots;
  }

  #shareOfNext(model: string, extras: PaidWork): number {
    return (this.#factorOf(model, extras) * this.#activityOfAll()) / this.#slots;
  }

  /** Slot seconds for a second of speech. */
  #factorOf(model: string, { translated, diarized }: PaidWork): number {
    const { translated: translation, diarized: speakers } = this.#extraCosts;
    return this.#costOf(model).factor + (translated ? translation.factor : 0) + (diarized ? speakers.factor : 0);
  }

  /** The part of the time that a session speaks, on the average of those that there are. */
  #activityOfAll(): number {
    let [speech, time] = [PRIOR_ACTIVITY * PRIOR_ACTIVITY_SECONDS, PRIOR_ACTIVITY_SECONDS];
    const now = this.now();
    for (const { activity } of this.#places.values()) {
      const { speechSeconds, seconds } = activity.observed(now);
      speech += speechSeconds;
      time += seconds;
    }
    return Math.max(LEAST_OF_OTHERS, speech / time);
  }

  get #slots(): number {
    return Math.max(1, this.engine().slots);
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
}
