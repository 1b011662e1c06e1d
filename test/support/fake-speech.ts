/** Segments of the fake engine, with words whose times follow from their lengths. */
import type { Segment } from '../../src/engine/binding.js';
import type { FileToTranscribe } from '../../src/engine/types.js';

/** Every word takes its share of the window by its characters; the second half of each is a pause. */
export function spokenEvenly(
  text: string,
  window: { index: number; of: number; seconds: number },
  { align = false, describe = false, temperature = 0 }: Pick<FileToTranscribe, 'align' | 'describe' | 'temperature'>,
): Segment {
  const seconds = window.seconds / window.of;
  const start = window.index * seconds;
  const perCharacter = seconds / text.length;
  const words = [...text.matchAll(/\s*\S+(?:\s+$)?/gu)].map(({ 0: word, index }) => ({
    text: word,
    startSeconds: start + index * perCharacter,
    endSeconds: start + (index + word.length / 2) * perCharacter,
    probability: 0.9,
  }));
  const tokens = [50364, ...Array.from(text, (character) => character.charCodeAt(0)), 50414];
  const decoding = { windowStartSeconds: start, tokens, averageLogProbability: -0.25, temperature };
  const segment = {
    ...{ startSeconds: start, endSeconds: start + seconds, text, noSpeechProbability: 0.125 },
    ...(describe ? { decoding } : {}),
  };
  return align ? { ...segment, words } : segment;
}

export function laterBy(seconds: number, segment: Segment): Segment {
  const later = <T extends { startSeconds: number; endSeconds: number }>(timed: T): T => ({
    ...timed,
    startSeconds: timed.startSeconds + seconds,
    endSeconds: timed.endSeconds + seconds,
  });
  const { words } = segment;
  return { ...later(segment), ...(words === undefined ? {} : { words: words.map(later) }) };
}
