import type { KeptSegment, TranscriptDocument } from '../../src/library/document.js';
import type { TimedWord } from '../../src/transcription/timed-text.js';

/** Words one behind the other, each so many seconds long, with pauses of a tenth of one. */
export function timedWords(text: string, startSeconds = 0, wordSeconds = 0.4): TimedWord[] {
  const texts = text === '' ? [] : text.split(' ');
  const at = (index: number): number => Math.round((startSeconds + index * wordSeconds) * 1000) / 1000;
  const pause = 0.04 / wordSeconds;
  return texts.map((word, index) => ({
    ...{ startSeconds: at(index), endSeconds: at(index + 1 - pause), text: word },
    probability: 0.5 + (index % 5) / 10,
  }));
}

export function madeSegment(text: string, startSeconds = 0, speaker?: string): KeptSegment {
  const words = timedWords(text, startSeconds);
  const endSeconds = words.at(-1)?.endSeconds ?? startSeconds + 1;
  return { startSeconds, endSeconds, text, ...(speaker === undefined ? {} : { speaker }), words };
}

export function madeDocument(...segments: KeptSegment[]): TranscriptDocument {
  const durationSeconds = Math.max(1, ...segments.map(({ endSeconds }) => endSeconds));
  return { durationSeconds, language: 'en', segments, names: {}, translation: null, notes: [] };
}
