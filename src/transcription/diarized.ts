/** Speakers in an answer: words and segments with their speakers, and turns without a recognised word. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { joinTexts } from '../engine/transcript-text.js';
import type { Caption } from './captions.js';
import type { SpeakerTimeline } from './speaker-timeline.js';
import type { TimedText } from './timed-text.js';

/** Captions after which the event loop gets its turn: a millisecond's work. */
const CAPTIONS_AT_ONCE = 256;

/**
 * Captions of one speaker each, with the speakers' names, and between them every turn in which no word of its speaker
 * was recognised, as a caption of nothing. Ordered by start; of one speaker none overlaps another.
 */
export async function diarized(captions: readonly Caption[], timeline: SpeakerTimeline): Promise<Caption[]> {
  const spoken = captions.map((caption) => ({ ...caption, speaker: speakerOf(caption, timeline) }));
  await nextTurn();
  const silent = timeline.turnsWithout(spoken).map((turn) => ({ ...turn, text: '', words: [] }));
  await nextTurn();
  const all: Caption[] = [];
  for (const caption of merged<Caption & { speaker: string }>(spoken, silent)) {
    all.push(named(caption, timeline));
    if (all.length % CAPTIONS_AT_ONCE === 0) await nextTurn();
  }
  return all;
}

function speakerOf(caption: Caption, timeline: SpeakerTimeline): string {
  return caption.speaker ?? timeline.speakerOf(caption);
}

function named(caption: Caption & { speaker: string }, timeline: SpeakerTimeline): Caption {
  const speaker = timeline.nameOf(caption.speaker);
  return { ...caption, speaker, words: caption.words.map((word) => ({ ...word, speaker })) };
}

/** Merges two lists by start; among equals the first list's go first. */
function merged<T extends { startSeconds: number }>(one: readonly T[], other: readonly T[]): T[] {
  const all: T[] = [];
  let next = 0;
  for (const item of one) {
    for (; (other[next]?.startSeconds ?? Infinity) < item.startSeconds; next++)
      all.push(...other.slice(next, next + 1));
    all.push(item);
  }
  return [...all, ...other.slice(next)];
}

/** What each speaker says until another one does, on a line of its own: "S1: Hello." */
export function speakerLines(segments: readonly TimedText[], language: string): string[] {
  const runs: { speaker: string; texts: string[] }[] = [];
  for (const { speaker = '', text } of segments) {
    if (text === '') continue;
    const last = runs.at(-1);
    if (last?.speaker === speaker) last.texts.push(text);
    else runs.push({ speaker, texts: [text] });
  }
  return runs.map(({ speaker, texts }) => `${speaker}: ${joinTexts(texts, language)}`);
}
