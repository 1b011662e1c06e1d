import type { LiveAudio, LiveEvent } from '../engine/binding.js';

/** Work on so much silence takes less time than a worker thread takes to begin. */
const SHORT_SECONDS = 0.1;

/** Appends a piece of a session's audio, of `seconds`. */
export function pushAudio(audio: LiveAudio, piece: Uint8Array, seconds: number): Promise<LiveEvent[]> | LiveEvent[] {
  const isQuick = audio.utteranceBegin === null && seconds <= SHORT_SECONDS;
  return isQuick ? audio.pushNow(piece) : audio.push(piece);
}
