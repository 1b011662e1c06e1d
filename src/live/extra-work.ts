/** What the translation and the speakers of live sessions cost. */
import type { PaidWork } from '../transcription/price.js';
import { SharedWork } from './shared-work.js';

/** Receives the work on what sessions have beside their text. */
export interface ExtraWork {
  /** Returns what is called at its end, with the seconds of speech that it was for. */
  begin(extra: keyof PaidWork): (seconds: number) => void;
}

/** Slower work than at the speed of speech is the loading of a model. */
const MOST_MS_A_SECOND = 1000;

export class MeasuredExtras implements ExtraWork {
  readonly #work: Readonly<Record<keyof PaidWork, SharedWork>>;

  /** `now`: milliseconds, monotonic. */
  constructor(
    private readonly measured: (extra: keyof PaidWork, work: { seconds: number; workMs: number }) => void,
    now: () => number,
  ) {
    this.#work = { translated: new SharedWork(now), diarized: new SharedWork(now) };
  }

  begin(extra: keyof PaidWork): (seconds: number) => void {
    const end = this.#work[extra].begin();
    return (seconds) => {
      const workMs = Math.min(end(), seconds * MOST_MS_A_SECOND);
      this.measured(extra, { seconds, workMs });
    };
  }
}
