import type { Plain } from '../process/messages.js';
import type { DiarizationOptions } from './diarization.js';
import type { EmbeddedVoice } from './embedded-window.js';
import type { SpeakerTurn } from './speaker-turn.js';
import type { VoicePiece } from './stretch-voices.js';

/** The settings of the speaker models' process: ONNX files. */
export interface SpeakerModelFiles {
  segmentation: string;
  embedding: string;
  /** Threads of one inference, 1 or more. */
  threads: number;
}

/** A VoicePiece as it crosses the channel. */
export interface PlainVoicePiece extends Omit<VoicePiece, 'voice'> {
  /** `vector`: base64 of 32-bit floats, the low byte first. */
  voice: (Omit<EmbeddedVoice, 'vector'> & { vector: string }) | null;
}

/** The calls of the process. */
export type SpeakerCalls = Plain<{
  voices: {
    /** See samplesToText(). */
    request: { samples: string };
    progress: never;
    answer: PlainVoicePiece[];
  };
  diarize: {
    request: { path: string; options: DiarizationOptions };
    progress: never;
    answer: SpeakerTurn[];
  };
}>;
