import type { AudioWorkers } from './audio-workers.js';
import type { AudioReader, AudioWindow } from '../binding.js';
import type { Clock } from '../clock.js';

/** A window with its number in the file. */
export interface CutWindow {
  readonly window: AudioWindow;
  readonly index: number;
  readonly seconds: number;
  /** How far it moves the request on: its own length and the dropped silence before it. */
  readonly advanceSeconds: number;
  /** Clock time at which it was cut. */
  readonly readyAt: number;
}

/**
 * One pass over a file, window by window; calls must not overlap. May be closed at any time: the native reader is
 * closed once no native call is in it.
 */
export class WindowReader {
  private windows = 0;
  /** Where the last window ended. */
  private positionSeconds = 0;
  private busy = false;
  private closed = false;

  constructor(
    private readonly reader: AudioReader,
    private readonly workers: AudioWorkers,
    private readonly clock: Clock,
    /** Milliseconds that opening it took. */
    private spentMs = 0,
  ) {}

  /** Milliseconds spent opening, decoding and cutting so far. */
  get readMs(): number {
    return this.spentMs;
  }

  /** Null at the end of the file, and once closed; 'silence' after a stretch of it (call again). */
  async next(): Promise<CutWindow | 'silence' | null> {
    this.busy = true;
    try {
      for (;;) {
        const step = await this.workers.run('cut', () => this.step());
        if (step === 'reading') continue;
        return step === null || step === 'silence' ? step : this.number(step);
      }
    } finally {
      this.busy = false;
      if (this.closed) this.reader.close();
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.busy) this.reader.close();
  }

  /** One native call; others may have the worker before the next one. */
  private async step(): Promise<Awaited<ReturnType<AudioReader['nextWindow']>>> {
    if (this.closed) return null;
    const start = this.clock.now();
    const window = await this.reader.nextWindow();
    this.spentMs += this.clock.now() - start;
    return window;
  }

  private number(window: AudioWindow): CutWindow {
    const seconds = window.pieces.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0);
    const advanceSeconds = Math.max(0, this.reader.positionSeconds - this.positionSeconds);
    this.positionSeconds = this.reader.positionSeconds;
    return { window, index: this.windows++, seconds, advanceSeconds, readyAt: this.clock.now() };
  }
}
