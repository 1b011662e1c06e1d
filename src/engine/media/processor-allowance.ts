/** The processor time that a conversion may use: it grows with the audio that the conversion yields. */

/** A core decodes an hour of AAC in about 4 s. */
const MS_PER_SECOND = 100;

/** Without a second of audio in between. */
export const MOST_MS_WITHOUT_AUDIO = 10_000;

/** A clip needs most of it for the start of ffmpeg. */
export const CLIP_MS = 400;

/** What takes more than five times what is usual is costly, though it may go on. */
const COSTLY_MS_PER_SECOND = 20;

/** In milliseconds; of a file of so many seconds. */
export function allowedMs(audioSeconds: number): number {
  return MOST_MS_WITHOUT_AUDIO + audioSeconds * MS_PER_SECOND;
}

export class ProcessorAllowance {
  /** As last counted. */
  usedMs = 0;
  #audioSeconds = 0;
  #usedAtAudioMs = 0;

  /** So much of a processor for so much audio, from the start of the file. */
  count(usedMs: number, audioSeconds: number): void {
    this.usedMs = Math.max(this.usedMs, usedMs);
    if (audioSeconds < this.#audioSeconds + 1) return;
    this.#audioSeconds = audioSeconds;
    this.#usedAtAudioMs = this.usedMs;
  }

  get isUsedUp(): boolean {
    const withoutAudioMs = this.usedMs - this.#usedAtAudioMs;
    return withoutAudioMs > MOST_MS_WITHOUT_AUDIO || this.usedMs > allowedMs(this.#audioSeconds);
  }

  get isCostly(): boolean {
    return this.usedMs > CLIP_MS + this.#audioSeconds * COSTLY_MS_PER_SECOND;
  }
}
