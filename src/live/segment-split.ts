/** Cuts segments, which are in the order of the audio, in two. */
import type { Segment, Word } from '../engine/binding.js';

export interface SplitSegments {
  before: Segment[];
  after: Segment[];
  /** Whether the cut is inside of a segment. */
  isInside: boolean;
  /** Where the cut is; between the times of words, or estimated by the length of the text. */
  seconds: number;
}

export function textOf(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join('');
}

/** Cuts where so many UTF-16 units of their joined text end. */
export function splitSegments(segments: readonly Segment[], units: number): SplitSegments {
  const before: Segment[] = [];
  const after: Segment[] = [];
  let left = units;
  let isInside = false;
  for (const segment of segments) {
    if (left >= segment.text.length) before.push(segment);
    else if (left === 0) after.push(segment);
    else {
      const [first, second] = splitSegment(segment, left);
      before.push(first);
      after.push(second);
      isInside = true;
    }
    left = Math.max(0, left - segment.text.length);
  }
  return { before, after, isInside, seconds: before.at(-1)?.endSeconds ?? after[0]?.startSeconds ?? 0 };
}

function splitSegment(segment: Segment, units: number): [Segment, Segment] {
  const { startSeconds, endSeconds, text, words } = segment;
  const texts = [text.slice(0, units), text.slice(units)] as const;
  if (words === undefined) {
    const at = startSeconds + ((endSeconds - startSeconds) * units) / text.length;
    return [
      { ...segment, text: texts[0], endSeconds: at },
      { ...segment, text: texts[1], startSeconds: at },
    ];
  }
  const [first, second] = splitWords(words, units);
  const at = first.at(-1)?.endSeconds ?? startSeconds;
  return [
    { ...segment, text: texts[0], words: first, endSeconds: at },
    { ...segment, text: texts[1], words: second, startSeconds: second[0]?.startSeconds ?? at },
  ];
}

/** What of a word is behind the cut has its time at the word's end. */
function splitWords(words: readonly Word[], units: number): [Word[], Word[]] {
  const before: Word[] = [];
  const after: Word[] = [];
  let left = units;
  for (const word of words) {
    const { text, endSeconds } = word;
    if (left >= text.length) before.push(word);
    else if (left === 0) after.push(word);
    else {
      before.push({ ...word, text: text.slice(0, left) });
      after.push({ ...word, text: text.slice(left), startSeconds: endSeconds });
    }
    left = Math.max(0, left - text.length);
  }
  return [before, after];
}

/** The words, and the segments without words, whose middle is later. */
export function laterThan(seconds: number, segments: readonly Segment[]): Segment[] {
  const isLater = (part: { startSeconds: number; endSeconds: number }): boolean =>
    (part.startSeconds + part.endSeconds) / 2 > seconds;
  return segments.flatMap((segment): Segment[] => {
    if (segment.words === undefined) return isLater(segment) ? [segment] : [];
    const words = segment.words.filter(isLater);
    const [first] = words;
    if (first === undefined) return [];
    const text = words.map((word) => word.text).join('');
    return [{ ...segment, text, words, startSeconds: first.startSeconds }];
  });
}
