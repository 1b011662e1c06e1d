/** A Diarizer whose answers and timing a test controls. */
import type { FileToDiarize } from '../../src/engine/speakers/file-to-diarize.js';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import type { Diarizer, LiveDiarizer } from '../../src/engine/types.js';

export type DiarizedFile = Parameters<Diarizer['diarize']>[0];

export const NO_DIARIZER = { unavailable: 'No model that distinguishes speakers is installed.' };

export class FakeDiarizer implements Diarizer {
  languages: readonly string[] | 'any' = 'any';
  /** Of a file of 90 s or more; what lies behind the end of a shorter one is cut off. */
  turns: SpeakerTurn[] = [
    { startSeconds: 0, endSeconds: 1, speaker: 'S1' },
    { startSeconds: 1, endSeconds: 90, speaker: 'S2' },
  ];
  /** Thrown by the next file, and only by that one. */
  failWith: Error | null = null;
  readonly asked: DiarizedFile[] = [];
  /** Samples of each stretch of live sessions. */
  readonly stretches: number[] = [];
  running = 0;
  #gate = Promise.resolve();
  #open = (): void => undefined;

  /** From now on files wait until release(). */
  holdAll(): void {
    this.#gate = new Promise((resolve) => (this.#open = resolve));
  }

  release(): void {
    this.#open();
  }

  serves(language: string): boolean {
    return this.languages === 'any' || this.languages.includes(language);
  }

  stats(): { waiting: number; running: number } {
    return { waiting: 0, running: this.running };
  }

  async diarize(file: DiarizedFile): Promise<SpeakerTurn[]> {
    const { signal } = file;
    signal?.throwIfAborted();
    this.asked.push(file);
    this.running++;
    try {
      await Promise.race([this.#gate, aborted(signal)]);
      this.#fail();
      return this.#turnsOf(file);
    } finally {
      this.running--;
    }
  }

  /** Of every stretch of a live session: two speakers, each for a half. */
  follow(): LiveDiarizer {
    return {
      turnsIn: async (samples) => {
        this.stretches.push(samples.length);
        await this.#gate;
        this.#fail();
        const [middle, end] = [samples.length / 32_000, samples.length / 16_000];
        return [
          { startSeconds: 0, endSeconds: middle, speaker: 0 },
          { startSeconds: middle, endSeconds: end, speaker: 1 },
        ];
      },
    };
  }

  #fail(): void {
    const error = this.failWith;
    this.failWith = null;
    if (error !== null) throw error;
  }

  /** Whoever is one too many is taken for the last one. */
  #turnsOf({ durationSeconds, maxSpeakers = Infinity }: FileToDiarize): SpeakerTurn[] {
    return this.turns
      .filter(({ startSeconds }) => startSeconds < durationSeconds)
      .map(({ startSeconds, endSeconds, speaker }) => ({
        startSeconds,
        endSeconds: Math.min(endSeconds, durationSeconds),
        speaker: `S${Math.min(maxSpeakers, Number(speaker.slice(1)))}`,
      }));
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
