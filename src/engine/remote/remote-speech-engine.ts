import { removeFile } from '../../remove-file.js';
import { containerOf } from '../media/containers.js';
import type {
  AudioRequest,
  EngineInfo,
  EngineLoad,
  FileToConvert,
  FileToMeasure,
  FileToTranscribe,
  OnWindow,
  RecognisedUtterance,
  SpeechEngine,
  Transcript,
  UtteranceToRecognise,
} from '../types.js';
import type { DeviceProcesses } from './device-processes.js';
import type { FileRequest } from './engine-calls.js';
import type { PlacedWork } from './placement.js';
import type { Quarantine } from './quarantine.js';
import { RemoteTranscription } from './remote-transcription.js';
import { SAMPLE_RATE } from '../sample-rate.js';
import { samplesToText } from './sample-text.js';

export interface RemoteSpeechOptions {
  process: Pick<DeviceProcesses, 'call' | 'load' | 'close'>;
  info: EngineInfo;
  quarantine: Quarantine;
}

/** The speech engine, run in a separate process. */
export class RemoteSpeechEngine implements SpeechEngine {
  readonly info: EngineInfo;
  readonly #process: RemoteSpeechOptions['process'];
  readonly #quarantine: Quarantine;

  constructor({ process, info, quarantine }: RemoteSpeechOptions) {
    this.info = info;
    this.#process = process;
    this.#quarantine = quarantine;
  }

  async convert(file: FileToConvert): Promise<boolean> {
    this.#quarantine.check(file.origin);
    file.signal?.throwIfAborted();
    // Reads only the first bytes. Most files need no conversion, and so no call to the process.
    if ((await containerOf(file.path, file.head)) === null) return false;
    try {
      return await this.#process.call('convert', {
        ...reading(file),
        request: () => ({ ...fileRequest(file), to: file.to, head: file.head }),
      });
    } catch (error) {
      // A process that died during the conversion may have left this file.
      await removeFile(file.to);
      throw error;
    }
  }

  async measure(file: FileToMeasure): Promise<number> {
    this.#quarantine.check(file.origin);
    return this.#process.call('measure', { ...reading(file), request: () => fileRequest(file) });
  }

  async transcribe(file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript> {
    const { origin, signal } = file;
    this.#quarantine.check(origin);
    const transcription = new RemoteTranscription(file, onWindow);
    const end = await this.#process.call('transcribe', {
      ...{ origin, signal },
      work: () => transcription.work(),
      request: () => transcription.request(),
      progress: (update, call) => transcription.update(update, call),
    });
    return transcription.transcript(end);
  }

  /** A repeat sends the samples again: nothing of the utterance is kept in the process. */
  async recognise(utterance: UtteranceToRecognise): Promise<RecognisedUtterance> {
    const { origin, signal, samples, ...how } = utterance;
    this.#quarantine.check(origin);
    const work: PlacedWork = {
      ...{ kind: 'speech', accountId: how.accountId, background: false },
      amount: samples.length / SAMPLE_RATE,
    };
    return this.#process.call('recognise', {
      ...{ origin, signal, work: () => work },
      request: () => ({ ...how, samples: samplesToText(samples) }),
      progress: () => undefined,
    });
  }

  stats(): EngineLoad {
    return this.#process.load;
  }

  close(): Promise<void> {
    return this.#process.close();
  }
}

function reading({ accountId, origin, signal }: AudioRequest) {
  const work: PlacedWork = { kind: 'reading', accountId, background: false, amount: 1 };
  return { origin, signal, progress: () => undefined, work: () => work };
}

function fileRequest({ path, accountId, maxSeconds, payableSeconds }: FileToMeasure): FileRequest {
  return { path, accountId, maxSeconds, payableSeconds };
}
