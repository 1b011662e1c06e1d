/**
 * Processing seconds of the whole box per second of audio, as measured: the ratio of two sums that both fade with the
 * audio that has passed since.
 */
const HALF_LIFE_AUDIO_SECONDS = 120;

/** Before anything is measured: a slot in real time, with the weight of a few windows. */
const PRIOR_SLOT_FACTOR = 1;
const PRIOR_AUDIO_SECONDS = 5;

export class RealTimeFactor {
  private processingSeconds = PRIOR_SLOT_FACTOR * PRIOR_AUDIO_SECONDS;
  private audioSeconds = PRIOR_AUDIO_SECONDS;

  constructor(private readonly slots: number) {}

  /** The slots' time that a window used, and its audio, dropped silence included. */
  add(processingSeconds: number, audioSeconds: number): void {
    const kept = 2 ** (-audioSeconds / HALF_LIFE_AUDIO_SECONDS);
    this.processingSeconds = this.processingSeconds * kept + processingSeconds;
    this.audioSeconds = this.audioSeconds * kept + audioSeconds;
  }

  get value(): number {
    return this.processingSeconds / this.audioSeconds / this.slots;
  }
}
