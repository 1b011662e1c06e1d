/**
 * The words of a segment whose text a person has corrected. Words that stay keep their times and their probability;
 * those that change share the time of the words that they replace.
 */
import { wordsIn } from '../engine/transcript-text.js';
import { inThousandths, type TimedText, type TimedWord } from '../transcription/timed-text.js';
import type { KeptSegment } from './document.js';

/** A person wrote it. */
const CERTAIN = 1;

/** In order, without overlap, within the segment. `language`: of the text. */
export function retimedWords(segment: KeptSegment, text: string, language: string): TimedWord[] {
  const texts = wordsIn(text, language).map((word) => word.trim());
  const { words } = segment;
  const made: TimedWord[] = [];
  let [from, at] = [0, 0];
  for (const [kept, position] of [...keptWords(words, texts), END] as const) {
    const until = kept === END[0] ? words.length : kept;
    const written = texts.slice(at, kept === END[0] ? undefined : position);
    made.push(...spread(written, words.slice(from, until), gapOf(segment, made.at(-1), words[until])));
    const word = words[kept];
    const shown = texts[position];
    if (word !== undefined && shown !== undefined) made.push({ ...word, text: shown });
    [from, at] = [kept + 1, position + 1];
  }
  return made;
}

const END = [-1, -1] as const;

/** The time between two words that stay, or the segment's ends. */
function gapOf(
  { startSeconds, endSeconds }: TimedText,
  before: TimedWord | undefined,
  behind: TimedWord | undefined,
): [from: number, to: number] {
  return [before?.endSeconds ?? startSeconds, behind?.startSeconds ?? endSeconds];
}

/** As many words as were there get their times one by one; else all share the time by their characters. */
function spread(
  texts: readonly string[],
  replaced: readonly TimedWord[],
  [from, to]: readonly [from: number, to: number],
): TimedWord[] {
  if (texts.length === replaced.length) {
    return replaced.map((word, index) => ({ ...word, text: texts[index] ?? '', probability: CERTAIN }));
  }
  const [first, last] = [replaced[0]?.startSeconds ?? from, replaced.at(-1)?.endSeconds ?? to];
  const secondsPerCharacter = (last - first) / texts.reduce((sum, { length }) => sum + length, 0);
  let [characters, end] = [0, inThousandths(first)];
  return texts.map((text) => {
    characters += text.length;
    const startSeconds = end;
    end = Math.min(last, inThousandths(first + characters * secondsPerCharacter));
    return { startSeconds, endSeconds: end, text, probability: CERTAIN };
  });
}

/** A word that stays counts more than any number of them that stay but for their marks and capitals. */
const SAME = 4096;
const SAME_LETTERS = SAME - 1;

/** The pairs of an old word and a new one that are the same, as many as can be, in order. */
function keptWords(words: readonly TimedWord[], texts: readonly string[]): [word: number, text: number][] {
  const pairs: [number, number][] = [];
  let start = 0;
  while (start < words.length && start < texts.length && words[start]?.text === texts[start]) {
    pairs.push([start, start++]);
  }
  let [wordEnd, textEnd] = [words.length, texts.length];
  const tail: [number, number][] = [];
  while (wordEnd > start && textEnd > start && words[wordEnd - 1]?.text === texts[textEnd - 1]) {
    tail.unshift([--wordEnd, --textEnd]);
  }
  const old = words.slice(start, wordEnd).map(({ text }) => text);
  const common = longestCommon(old, texts.slice(start, textEnd));
  return [...pairs, ...common.map(([one, other]): [number, number] => [one + start, other + start]), ...tail];
}

/** By the table of the best sums of what is left of both. */
function longestCommon(one: readonly string[], other: readonly string[]): [number, number][] {
  const width = other.length + 1;
  const best = new Uint32Array((one.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  const [oneLetters, otherLetters] = [one.map(lettersOf), other.map(lettersOf)];
  const worth = (i: number, j: number): number => {
    if (one[i] === other[j]) return SAME;
    return oneLetters[i] === otherLetters[j] ? SAME_LETTERS : 0;
  };
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      const same = worth(i, j);
      const both = same === 0 ? 0 : same + at(i + 1, j + 1);
      best[i * width + j] = Math.max(both, at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < one.length && j < other.length;) {
    const same = worth(i, j);
    if (same > 0 && at(i, j) === same + at(i + 1, j + 1)) pairs.push([i++, j++]);
    else if (at(i, j) === at(i + 1, j)) i++;
    else j++;
  }
  return pairs;
}

/** Without marks and capitals; of a word of marks alone, the marks. */
function lettersOf(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, '') || word;
}
