/** How many words have the right speaker: what readers of a transcript with speakers notice. */
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import { matchWords } from '../../src/models/alignment/word-matching.js';
import { SpeakerTimeline } from '../../src/transcription/speaker-timeline.js';
import type { Random } from '../load/random.js';
import { bestMapping } from './speaker-mapping.js';
import { randomSpeakers } from './trivial-answers.js';

/** What somebody says in a turn. */
export interface SpokenTurn extends SpeakerTurn {
  text: string;
}

export interface AttributedWord extends SpeakerTurn {
  word: string;
}

/** Who says a word, and who is found to; the names of the two are not the same people's. */
export interface JudgedWord {
  known: string;
  found: string;
}

/**
 * The words of turns by their start. Where only turns have times, each turn's words are spread evenly over it: all last
 * as long, and none has a pause before it. Times of words are as wrong as that; who says them is not.
 */
export function wordsOfTurns(turns: readonly SpokenTurn[]): AttributedWord[] {
  const words = turns.flatMap(({ startSeconds, endSeconds, speaker, text }) => {
    const own = text.split(/\s+/).filter((word) => word !== '');
    const seconds = (endSeconds - startSeconds) / own.length;
    const timeOf = (index: number): number => startSeconds + index * seconds;
    return own.map((word, index) => ({
      ...{ word, speaker },
      startSeconds: timeOf(index),
      endSeconds: timeOf(index + 1),
    }));
  });
  return words.sort((one, other) => one.startSeconds - other.startSeconds);
}

/**
 * Known words by whose turns they lie in, as the service gives its own words their speakers; '' where nobody speaks at
 * all.
 */
export function judgedByTurns(words: readonly AttributedWord[], turns: readonly SpeakerTurn[]): JudgedWord[] {
  const timeline = new SpeakerTimeline(turns, Infinity);
  return words.map((word) => ({ known: word.speaker, found: timeline.speakerOf(word) }));
}

/**
 * Of recognised words those that were spoken, found by an alignment of fewest edits; the others have no speaker to
 * compare.
 */
export function judgedByText(words: readonly AttributedWord[], recognised: readonly AttributedWord[]): JudgedWord[] {
  const texts = (list: readonly AttributedWord[]): string[] => list.map(({ word }) => word);
  return matchWords(texts(words), texts(recognised)).flatMap((pair) => {
    const [known, found] = [words[pair.spoken], recognised[pair.recognised]];
    return known === undefined || found === undefined ? [] : [{ known: known.speaker, found: found.speaker }];
  });
}

/** Words whose speaker is right under the mapping of speakers, one for one, that makes most of them right. */
export function rightWords(judged: readonly JudgedWord[]): number {
  const counts = new Map<string, number>();
  const key = (known: string, found: string): string => JSON.stringify([known, found]);
  for (const { known, found } of judged) counts.set(key(known, found), (counts.get(key(known, found)) ?? 0) + 1);
  const count = (known: string, found: string): number => counts.get(key(known, found)) ?? 0;
  const names = (of: keyof JudgedWord): string[] => [...new Set(judged.map((word) => word[of]))];
  const mapping = bestMapping(names('known'), names('found'), count);
  return [...mapping].reduce((sum, [found, known]) => sum + count(known, found), 0);
}

/** Of those words, what whoever says that one person speaks them all has right. */
export function rightOfOneSpeaker(words: readonly AttributedWord[]): number {
  return rightWords(words.map(({ speaker }) => ({ known: speaker, found: 'S1' })));
}

/** Of the words of these turns, what whoever gives each turn to anybody has right. */
export function rightOfRandomSpeakers(turns: readonly SpokenTurn[], random: Random): number {
  const drawn = wordsOfTurns(randomSpeakers(turns, random));
  return rightWords(
    wordsOfTurns(turns).map(({ speaker }, index) => ({ known: speaker, found: drawn[index]?.speaker ?? '' })),
  );
}
