/** The end of a semantic turn behind a whole sentence, unless its speech has gone on meanwhile. */
import type { LiveAudio } from '../engine/binding.js';
import { liveOptions, PAUSE_MS, type TurnDetection } from './options.js';

/** Longer than speech that is too short to count, which leaves open for so long whether it goes on. */
const DECIDED_AFTER_SECONDS = 0.1;

/**
 * Whether the pause that was judged goes on is known to the audio alone. So silence of a pause's length ends the
 * utterance, from the next audio on, until that would have ended it.
 */
export class SentenceTurn {
  #secondsLeft = 0;

  constructor(private readonly audio: Pick<LiveAudio, 'configure'>) {}

  /** The running utterance is to end, if its pause still goes on. `turns`: in force. */
  end(turns: TurnDetection): void {
    this.#secondsLeft = DECIDED_AFTER_SECONDS;
    this.audio.configure({ ...liveOptions(turns), silenceMs: PAUSE_MS });
  }

  /** The most audio that may be pushed at a time. */
  longestPiece(seconds: number): number {
    return this.#secondsLeft > 0 ? Math.min(seconds, DECIDED_AFTER_SECONDS) : seconds;
  }

  /** So much audio came. `isOver`: the utterance has ended. */
  pushed(seconds: number, isOver: boolean, turns: TurnDetection): void {
    if (this.#secondsLeft <= 0) return;
    this.#secondsLeft = isOver ? 0 : this.#secondsLeft - seconds;
    if (this.#secondsLeft <= 0) this.audio.configure(liveOptions(turns));
  }
}
