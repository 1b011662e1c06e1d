import { removeFile } from '../../remove-file.js';
import { containerOf } from '../media/containers.js';
import type { Backlog } from '../speech/backlog.js';
import type {
  AudioToMeasure,
  EngineStats,
  FileToConvert,
  FileToTranscribe,
  SpeechEngine,
  Transcript,
} from '../types.js';
import type { CountedSeconds, EngineInfo, FileRequest } from './engine-calls.js';
import type { DeviceProcesses } from './device-processes.js';
import type { PlacedWork } from './placement.js';
import type { Quarantine } from './quarantine.js';
import { RemoteTranscription } from './remote-transcription.js';

export interface RemoteSpeechOptions {
  process: Pick<DeviceProcesses, 'call' | 'load' | 'close'>;
  info: EngineInfo;
  quarantine: Quarantine;
  /** Of all that serve beside it, too. */
  backlog: Backlog;
}

/** The speech engine in a process of its own. Who is let in is decided here, so that it outlives the process. */
export class RemoteSpeechEngine implements SpeechEngine {
  readonly languages: readonly string[];
  readonly translatesToEnglish: boolean;
  readonly abilities: SpeechEngine['abilities'];
  readonly alignsWords: boolean;
  readonly devices: SpeechEngine['devices'];
  readonly modelName: string;
  readonly voiceActivity: SpeechEngine['voiceActivity'];
  readonly isDemonstration: boolean;
  readonly #process: RemoteSpeechOptions['process'];
  readonly #quarantine: Quarantine;
  readonly #backlog: Backlog;

  constructor({ process, info, quarantine, backlog }: RemoteSpeechOptions) {
    this.languages = info.languages;
    this.translatesToEnglish = info.translatesToEnglish;
    this.abilities = info.abilities;
    this.alignsWords = info.alignsWords;
    this.devices = info.devices;
    this.modelName = info.modelName;
    this.voiceActivity = info.voiceActivity;
    this.isDemonstration = info.isDemonstration;
    this.#process = process;
    this.#quarantine = quarantine;
    this.#backlog = backlog;
  }

  async transcribeFile(file: FileToTranscribe): Promise<Transcript> {
    const { origin, signal } = file;
    this.#checkFile(file);
    const transcription = new RemoteTranscription(file, this.#backlog);
    try {
      const end = await this.#process.call('transcribe', {
        ...{ origin, signal },
        work: () => transcription.work(),
        request: () => transcription.request(),
        progress: (progress, call) => transcription.hear(progress, call),
      });
      return transcription.transcript(end);
    } finally {
      transcription.release();
    }
  }

  async convertFile(file: FileToConvert): Promise<{ milliseconds: number } | null> {
    this.#checkFile(file);
    file.signal?.throwIfAborted();
    // A look at its first bytes: most files need no conversion, and no way to the process and back.
    if ((await containerOf(file.path)) === null) return null;
    try {
      return await this.#process.call('convert', {
        ...this.#asked(file),
        request: () => ({ ...fileRequest(file), to: file.to }),
      });
    } catch (error) {
      // Of a process that died with it.
      await removeFile(file.to);
      throw error;
    }
  }

  async measureFile(file: AudioToMeasure): Promise<number> {
    this.#checkFile(file);
    const seconds = await this.#process.call('measure', {
      ...this.#asked(file),
      request: () => fileRequest(file),
    });
    // What is told as a duration is not told as counted.
    file.covers?.(seconds);
    return seconds;
  }

  /** Of its process, as last told. */
  get realTimeFactor(): number {
    return this.#process.load.realTimeFactor;
  }

  checkRoom(accountId: string): void {
    this.#backlog.checkRoom({ accountId, audioSeconds: 0 });
  }

  stats(): EngineStats {
    const { seconds, maxSeconds, retryAfterSeconds, byAccount } = this.#backlog;
    return {
      ...this.#process.load,
      ...{ backlogSeconds: seconds, maxBacklogSeconds: maxSeconds, retryAfterSeconds },
      backlogByAccount: byAccount,
    };
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  #checkFile(file: AudioToMeasure): void {
    this.#quarantine.check(file.origin);
    file.covers?.(0);
  }

  #asked({ accountId, origin, signal, covers }: AudioToMeasure) {
    const work: PlacedWork = { kind: 'reading', accountId, background: false, amount: 1 };
    const progress = ({ seconds }: CountedSeconds): void => covers?.(seconds);
    return { origin, signal, progress, work: () => work };
  }
}

function fileRequest({ path, accountId, maxSeconds, covers }: AudioToMeasure): FileRequest {
  return { path, accountId, maxSeconds, counts: covers !== undefined };
}
