import { VerbatimError } from '../../errors.js';
import type { AudioWorkers } from './audio-workers.js';
import type { AudioReader, NativeBinding, VoiceActivityModel, WindowPolicy } from '../binding.js';
import type { Clock } from '../clock.js';
import { CONTAINER_NAMES } from '../media/containers.js';
import { EngineError, nativeErrorCode } from '../native-errors.js';
import type { AudioBudget, AudioRequest, FileToMeasure } from '../types.js';
import type { Measurable, MeasuringQueue } from './measuring-queue.js';
import { WindowReader } from './window-reader.js';

export interface AudioSource {
  binding: Pick<NativeBinding, 'openAudio'>;
  policy: WindowPolicy;
  /** Detects speech; null: all sound above the background counts as speech. */
  voice: VoiceActivityModel | null;
  workers: AudioWorkers;
  measuring: MeasuringQueue;
  clock: Clock;
}

/** Of a file that is as long as is allowed, over all channels: stereo at 96 kHz. */
const SAMPLES_PER_SECOND = 2 * 96_000;

type MeasuredRequest = AudioRequest & { seconds: number };

/** An open file of known duration. */
export class AudioFile {
  private constructor(
    private readonly source: AudioSource,
    private readonly file: MeasuredRequest,
    readonly windows: WindowReader,
  ) {}

  /** Opens a file whose duration is known, in one of its account's turns; rejects as transcribe() does. */
  static async open(source: AudioSource, file: MeasuredRequest): Promise<AudioFile> {
    return new AudioFile(source, file, await openWindows(source, file));
  }

  get durationSeconds(): number {
    return this.file.seconds;
  }

  /** A second pass over the same file, from its start; cuts the same windows. Opened as by open(). */
  reopen(): Promise<WindowReader> {
    return openWindows(this.source, this.file);
  }

  close(): void {
    this.windows.close();
  }
}

async function openWindows(source: AudioSource, file: MeasuredRequest): Promise<WindowReader> {
  const { path, accountId, signal, seconds } = file;
  const open = async (): Promise<OpenedReader> => new OpenedReader(await openReader(source, path), seconds);
  const { reader, spentMs } = await source.measuring.run({ accountId, signal, open, check: () => undefined });
  return new WindowReader(reader.reader, source.workers, source.clock, spentMs);
}

/** A reader that does not measure: the duration is known. */
class OpenedReader implements Measurable {
  constructor(
    readonly reader: AudioReader,
    private readonly seconds: number,
  ) {}

  measure(): Promise<number> {
    return Promise.resolve(this.seconds);
  }

  close(): void {
    this.reader.close();
  }
}

/** The duration in seconds; rejects as SpeechEngine.measure() does. */
export async function measureFile(source: AudioSource, file: FileToMeasure): Promise<number> {
  const { path, accountId, signal } = file;
  const open = (): Promise<AudioReader> => openReader(source, path);
  const check = (reader: AudioReader): void => refuseTooMuch(reader, file);
  const { reader, durationSeconds } = await source.measuring.run({ accountId, signal, open, check });
  reader.close();
  return durationSeconds;
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
  { maxSeconds = Infinity, payableSeconds = Infinity }: AudioBudget,
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
  if (seconds > payableSeconds) {
    throw new VerbatimError(
      'insufficient_credits',
      `The audio is longer than the ${payableSeconds} s that are paid for.`,
    );
  }
}

function refuse(message: string): never {
  throw new VerbatimError('audio_too_long', message, { param: 'audio' });
}
