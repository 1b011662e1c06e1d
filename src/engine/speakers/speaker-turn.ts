/** A stretch in which one person speaks. Turns of several people may overlap. */
export interface SpeakerTurn {
  /** Seconds on the file's time line, 0 or more. */
  startSeconds: number;
  /** Above `startSeconds`. */
  endSeconds: number;
  speaker: string;
}
