import { VerbatimError } from '../../errors.js';
import type { AudioWorkers } from './audio-workers.js';
import type { AudioReader, NativeBinding, WindowPolicy } from '../binding.js';
import type { Clock } from '../clock.js';
import { failRequest } from '../native-errors.js';
import type { FileToTranscribe } from '../types.js';
import { WindowReader } from './window-reader.js';

export interface AudioSource {
  binding: Pick<NativeBinding, 'openAudio'>;
  policy: WindowPolicy;
  workers: AudioWorkers;
  clock: Clock;
}

/** An open file of known duration. */
export class AudioFile {
  readonly windows: WindowReader;

  private constructor(
    private readonly source: AudioSource,
    private readonly path: string,
    reader: AudioReader,
    readonly durationSeconds: number,
    /** Milliseconds that finding the duration took. */
    readonly measureMs: number,
  ) {
    this.windows = new WindowReader(reader, source.workers, source.clock);
  }

  /** Opens and measures; rejects as transcribeFile() does. */
  static async open(source: AudioSource, file: FileToTranscribe): Promise<AudioFile> {
    const { path, signal, maxSeconds = Infinity } = file;
    const { binding, policy, workers, clock } = source;
    let spentMs = 0;
    const step = <T>(work: () => Promise<T>): Promise<T> =>
      workers.run('measure', async () => {
        signal?.throwIfAborted();
        const start = clock.now();
        const result = await work().catch((error: unknown) => failRequest(error, signal));
        spentMs += clock.now() - start;
        return result;
      });
    file.covers?.(0);
    const reader = await step(() => binding.openAudio(path, policy));
    try {
      let duration = file.after?.durationSeconds ?? null;
      while (duration === null) {
        duration = await step(() => reader.measure());
        const counted = duration ?? reader.measuredSeconds;
        refuseLonger(counted, maxSeconds);
        file.covers?.(counted);
      }
      signal?.throwIfAborted();
      return new AudioFile(source, path, reader, duration, spentMs);
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  /** A second pass over the same file, from its start; cuts the same windows. */
  async reopen(): Promise<WindowReader> {
    const { binding, policy, workers, clock } = this.source;
    const reader = await workers.run('cut', () => binding.openAudio(this.path, policy));
    return new WindowReader(reader, workers, clock);
  }

  close(): void {
    this.windows.close();
  }
}

/** Before all of it is measured: a small file may hold days of audio. */
function refuseLonger(seconds: number, maxSeconds: number): void {
  if (seconds <= maxSeconds) return;
  throw new VerbatimError('audio_too_long', `The audio is longer than the limit of ${maxSeconds} s.`, {
    param: 'audio',
  });
}
