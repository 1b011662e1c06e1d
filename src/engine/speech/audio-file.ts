import { VerbatimError } from '../../errors.js';
import type { AudioWorkers } from './audio-workers.js';
import type { AudioReader, NativeBinding, VoiceActivityModel, WindowPolicy } from '../binding.js';
import type { Clock } from '../clock.js';
import { CONTAINER_NAMES } from '../media/containers.js';
import { EngineError, failRequest, nativeErrorCode } from '../native-errors.js';
import type { AudioToMeasure, FileToTranscribe } from '../types.js';
import type { MeasuringQueue } from './measuring-queue.js';
import { WindowReader } from './window-reader.js';

export interface AudioSource {
  binding: Pick<NativeBinding, 'openAudio'>;
  policy: WindowPolicy;
  /** What hears speech in it; null: whatever stands out of the background is. */
  voice: VoiceActivityModel | null;
  workers: AudioWorkers;
  measuring: MeasuringQueue;
  clock: Clock;
}

type FileToOpen = AudioToMeasure & Pick<FileToTranscribe, 'after'>;

/** Of a file that is as long as is allowed, over all channels: stereo at 96 kHz. */
const SAMPLES_PER_SECOND = 2 * 96_000;

/** An open file of known duration. */
export class AudioFile {
  readonly windows: WindowReader;

  private constructor(
    private readonly source: AudioSource,
    private readonly path: string,
    reader: AudioReader,
    readonly durationSeconds: number,
    /** Milliseconds that opening it and finding its duration took. */
    readonly openMs: number,
  ) {
    this.windows = new WindowReader(reader, source.workers, source.clock);
  }

  /** Opens and measures; rejects as transcribeFile() does. */
  static async open(source: AudioSource, file: FileToOpen): Promise<AudioFile> {
    const { path, accountId, signal, after } = file;
    file.covers?.(0);
    const open = (): Promise<AudioReader> => openReader(source, path);
    if (after !== undefined) {
      signal?.throwIfAborted();
      const start = source.clock.now();
      const reader = await source.workers
        .run('cut', open)
        .catch((error: unknown) => failRequest(error, signal));
      return new AudioFile(source, path, reader, after.durationSeconds, source.clock.now() - start);
    }
    const check = (reader: AudioReader): void => refuseTooMuch(reader, file);
    const measured = await source.measuring.run({ accountId, signal, open, check });
    return new AudioFile(source, path, measured.reader, measured.durationSeconds, measured.spentMs);
  }

  /** A second pass over the same file, from its start; cuts the same windows. */
  async reopen(): Promise<WindowReader> {
    const { workers, clock } = this.source;
    const reader = await workers.run('cut', () => openReader(this.source, this.path));
    return new WindowReader(reader, workers, clock);
  }

  close(): void {
    this.windows.close();
  }
}

async function openReader({ binding, policy, voice }: AudioSource, path: string): Promise<AudioReader> {
  try {
    return await binding.openAudio(path, policy, voice === null ? {} : { voice });
  } catch (error) {
    if (nativeErrorCode(error) !== 'unsupported_audio_format') throw error;
    const { message } = error as Error;
    throw new EngineError('unsupported_audio_format', `${message}, nor ${CONTAINER_NAMES}`, { cause: error });
  }
}

/** Before all of it is measured: a small file may hold days of audio, or one hour of it a day's samples. */
export function refuseTooMuch(
  reader: Pick<AudioReader, 'measuredSeconds' | 'measuredSamples'>,
  { maxSeconds = Infinity, covers }: Pick<AudioToMeasure, 'maxSeconds' | 'covers'>,
): void {
  const seconds = reader.measuredSeconds;
  if (seconds > maxSeconds) refuse(`The audio is longer than the limit of ${maxSeconds} s.`);
  const maxSamples = maxSeconds * SAMPLES_PER_SECOND;
  if (reader.measuredSamples > maxSamples) {
    refuse(
      `The audio has more than ${maxSamples} samples over all channels, which is the limit ` +
        `(${maxSeconds} s of stereo at 96 kHz). Send fewer channels or a lower sample rate.`,
    );
  }
  covers?.(seconds);
}

function refuse(message: string): never {
  throw new VerbatimError('audio_too_long', message, { param: 'audio' });
}
