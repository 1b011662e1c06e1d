/**
 * Bounds how many libuv threads work on audio files at once, so that a crowd of uploads being measured never keeps a
 * window from its thread. Cutting windows goes before measuring: slots wait for the one, only new requests for the
 * other.
 */
export type AudioWork = 'cut' | 'measure';

export class AudioWorkers {
  private running = 0;
  private readonly waiting: Record<AudioWork, (() => void)[]> = { cut: [], measure: [] };

  constructor(private readonly limit: number) {}

  /** Runs one bounded native call when its turn has come. */
  async run<T>(kind: AudioWork, work: () => Promise<T>): Promise<T> {
    if (this.running < this.limit) this.running++;
    else await new Promise<void>((resolve) => this.waiting[kind].push(resolve));
    try {
      return await work();
    } finally {
      this.handOn();
    }
  }

  /** The place of a call that is over goes to the next one without being free in between. */
  private handOn(): void {
    const next = this.waiting.cut.shift() ?? this.waiting.measure.shift();
    if (next === undefined) this.running--;
    else next();
  }
}
