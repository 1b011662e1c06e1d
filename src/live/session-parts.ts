/** What a session is made of, and what it may do. */
import type { LiveAudio } from '../engine/binding.js';
import type { Diarizer, NoDiarizer } from '../engine/types.js';
import type { Timers } from '../timers.js';
import type { SpeechOfModel } from '../transcription/engine-lease.js';
import type { TextTranslator } from '../transcription/language-support.js';
import type { SessionEvent } from './events.js';
import type { ExtraWork } from './extra-work.js';
import type { InputRate } from './input-rate.js';
import type { InputMemory } from './input-memory.js';
import type { LiveMeter } from './meter.js';
import type { LiveFormat, LiveSettings } from './options.js';
import type { SlotUse } from './slot-use.js';
import type { DecoderObserver } from './utterance-decoder.js';

export interface SessionParts {
  audio: LiveAudio;
  format: LiveFormat;
  settings: LiveSettings;
  engine: Pick<SpeechOfModel, 'info' | 'recognise'>;
  /** For sessions whose settings have `translateTo`. */
  translator: TextTranslator | undefined;
  /** For sessions whose settings have `diarize`. */
  diarizer: Diarizer | NoDiarizer;
  extraWork: ExtraWork;
  meter: Pick<LiveMeter, 'paidSeconds' | 'payMinute'>;
  /** Default: a multiple of real time. */
  rate?: Pick<InputRate, 'delayMs'>;
  memory: InputMemory;
  accountId: string;
  requestId: string;
  maxSeconds: number;
  timers: Timers;
  /** Ends the session at once: the key was revoked, or the server stops. */
  signal: AbortSignal;
  observer: DecoderObserver;
  /** As DecoderParts.room. */
  room: () => number;
  slotUse: SlotUse;
  emit: (event: SessionEvent) => void;
}

/** What a session is given, in the order in which it is worked on. */
export type SessionInput =
  | { kind: 'bytes'; bytes: Buffer }
  | { kind: 'end utterance' | 'idle' | 'clear' | 'finish' }
  | { kind: 'end sentence'; utterance: RunningUtterance }
  | { kind: 'settings'; settings: LiveSettings };

export interface RunningUtterance {
  number: number;
  /** Its audio before this sample is decoded, or is being decoded. */
  decodedTo: number;
}
