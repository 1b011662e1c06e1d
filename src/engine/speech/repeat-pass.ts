import type { AudioFile } from './audio-file.js';
import type { CutWindow, WindowReader } from './window-reader.js';

/**
 * Cuts some windows of a file once more. They lie at its start, so that reading again costs little, whereas holding
 * them back during the vote would cost every request their samples.
 */
export class RepeatPass {
  private readonly wanted: Set<number>;
  private reader: WindowReader | null = null;
  private closed = false;

  constructor(
    private readonly audio: AudioFile,
    indices: readonly number[],
  ) {
    this.wanted = new Set(indices);
  }

  get hasMore(): boolean {
    return this.wanted.size > 0;
  }

  get readMs(): number {
    return this.reader?.readMs ?? 0;
  }

  /** Null once closed. */
  async next(): Promise<CutWindow | 'silence' | null> {
    this.reader ??= await this.open();
    for (;;) {
      const cut = await this.reader.next();
      if (cut === 'silence') return cut;
      if (cut === null) return this.end();
      if (this.wanted.delete(cut.index)) {
        if (!this.hasMore) this.reader.close();
        return cut;
      }
      cut.window.release();
    }
  }

  close(): void {
    this.closed = true;
    this.reader?.close();
  }

  private end(): null {
    if (this.closed) return null;
    throw new Error('The audio file changed while it was transcribed.');
  }

  private async open(): Promise<WindowReader> {
    const reader = await this.audio.reopen();
    if (this.closed) reader.close();
    return reader;
  }
}
