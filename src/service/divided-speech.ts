import { SAMPLE_RATE } from '../engine/sample-rate.js';
import type { LaneDivision, LaneUser } from '../engine/lane-division.js';
import type {
  EngineInfo,
  FileToTranscribe,
  OnWindow,
  RecognisedUtterance,
  Transcript,
  UtteranceToRecognise,
} from '../engine/types.js';
import type { SpeechOfModel } from '../transcription/engine-lease.js';

/** The engine of one model. It gets a share of the lanes while it has work. */
export class DividedSpeech implements SpeechOfModel {
  constructor(
    private readonly engine: SpeechOfModel,
    private readonly lanes: LaneUser,
    private readonly division: LaneDivision,
  ) {}

  get info(): EngineInfo {
    return this.engine.info;
  }

  async transcribe(file: FileToTranscribe, onWindow?: OnWindow): Promise<Transcript> {
    const { accountId, background = false, seconds } = file;
    let doneSeconds = 0;
    const leftSeconds = (): number => Math.max(0, seconds - doneSeconds);
    const work = this.division.begin(this.lanes, { accountId, background, leftSeconds });
    try {
      return await this.engine.transcribe(file, (update) => {
        doneSeconds = update.seconds;
        onWindow?.(update);
      });
    } finally {
      work.end();
    }
  }

  async recognise(utterance: UtteranceToRecognise): Promise<RecognisedUtterance> {
    const { accountId, samples } = utterance;
    const leftSeconds = (): number => samples.length / SAMPLE_RATE;
    const work = this.division.begin(this.lanes, { accountId, background: false, leftSeconds });
    try {
      return await this.engine.recognise(utterance);
    } finally {
      work.end();
    }
  }
}
