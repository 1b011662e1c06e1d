/** Who speaks in a stretch of audio of a live session, as voices without names. */
import { embedVoices, type EmbeddedVoice, type SpeakerModels } from './embedded-window.js';
import { speakersIn, spokenSpans } from './window-activity.js';

/** Some two seconds of one speaker's speech. */
export interface VoicePiece {
  /** From the start of the stretch. */
  startSeconds: number;
  endSeconds: number;
  /** Pieces with the same number are one speaker's, as far as one window shows it. */
  local: number;
  /** null: too little speech. */
  voice: EmbeddedVoice | null;
}

const RATE = 16_000;

/** By their start. Mono at 16 kHz. Rejects with the signal's reason, and as the models do. */
export async function voicesIn(
  samples: Float32Array,
  models: SpeakerModels,
  signal: AbortSignal,
): Promise<VoicePiece[]> {
  const { windowSamples: length, grid } = models.segmentation;
  const pieces: VoicePiece[] = [];
  let locals = 0;
  for (let from = 0; from < samples.length; from += length) {
    signal.throwIfAborted();
    // The last window has the whole length, and what the one before it has, too, is left out.
    const start = Math.max(0, Math.min(from, samples.length - length));
    const window = await embedVoices(samples.subarray(start, start + length), start, models);
    for (let piece = 0; piece < speakersIn(window); piece++) {
      const spans = spokenSpans(window, piece, grid, false);
      const [begin, end] = [start + (spans[0]?.[0] ?? 0), start + (spans.at(-1)?.[1] ?? 0)];
      if (end <= Math.max(begin, from)) continue;
      pieces.push({
        startSeconds: Math.max(begin, from) / RATE,
        endSeconds: Math.min(end, samples.length) / RATE,
        local: locals + (window.locals[piece] ?? 0),
        voice: window.voices[piece] ?? null,
      });
    }
    locals += 1 + Math.max(-1, ...window.locals);
  }
  return pieces.sort((one, other) => one.startSeconds - other.startSeconds || one.endSeconds - other.endSeconds);
}
