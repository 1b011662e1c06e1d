/**
 * Text with its place on the file's time line: seconds in whole thousandths, never decreasing from one text to the
 * next, never past the file's duration, without overlap.
 */
export interface TimedText {
  startSeconds: number;
  endSeconds: number;
  /** Without white space around it. */
  text: string;
  /** S1, S2, …; where it was asked who speaks. */
  speaker?: string;
}

export interface TimedWord extends TimedText {
  /** From 0 to 1, in whole thousandths. */
  probability: number;
}

/** Rounds as the answer's duration is rounded: the order of times stays. */
export function inThousandths(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Rounds times one after the other; none is before the last one, or past the end. */
export class RisingClock {
  private last = 0;
  private readonly end: number;

  constructor(durationSeconds: number) {
    this.end = inThousandths(durationSeconds);
  }

  at(seconds: number): number {
    this.last = Math.min(Math.max(inThousandths(seconds), this.last), this.end);
    return this.last;
  }
}
