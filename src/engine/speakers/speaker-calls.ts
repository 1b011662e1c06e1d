import type { Plain } from '../process/messages.js';
import type { DiarizationOptions } from './diarization.js';
import type { SpeakerTurn } from './speaker-turn.js';

/** The settings of the speaker models' process: ONNX files. */
export interface SpeakerModelFiles {
  segmentation: string;
  embedding: string;
  /** Threads of one inference, 1 or more. */
  threads: number;
}

/** The calls of the process. */
export type SpeakerCalls = Plain<{
  diarize: {
    request: { path: string; options: DiarizationOptions };
    progress: never;
    answer: SpeakerTurn[];
  };
}>;
