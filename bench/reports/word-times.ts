/** How well the times of recognised words agree with those of the spoken words. */
import { matchWords } from '../../src/models/alignment/word-matching.js';
import type { TimedClip, SpokenWord } from '../../src/models/alignment/timed-clips.js';
import type { Clip } from '../load/clips.js';
import { rounded, type Shown, type Table } from './report.js';
import { median, percentile } from './statistics.js';

export interface JudgedTranscript {
  clip: TimedClip;
  /** As they were recognised, in order. */
  words: readonly SpokenWord[];
}

/** A word that was recognised correctly: how late its times are, seconds. */
export interface WordError {
  word: string;
  start: number;
  end: number;
}

/** Of a recording whose stretches of speech are known. */
export interface VoicedTranscript {
  clip: Clip;
  words: readonly SpokenWord[];
  voiced: readonly Pick<SpokenWord, 'start' | 'end'>[];
}

/** A word that begins farther than this from any sound does not begin in it, seconds. */
export const NEAR_SOUND_SECONDS = 0.1;

export function wordTimeErrors({ clip, words }: JudgedTranscript): WordError[] {
  const texts = (list: readonly SpokenWord[]): string[] => list.map(({ word }) => word);
  return matchWords(texts(clip.words), texts(words)).flatMap((pair) => {
    const [spoken, recognised] = [clip.words[pair.spoken], words[pair.recognised]];
    if (spoken === undefined || recognised === undefined) return [];
    const { word } = spoken;
    return [{ word, start: recognised.start - spoken.start, end: recognised.end - spoken.end }];
  });
}

/**
 * The harmonic mean of precision and recall, percent: a word counts that is recognised correctly and whose start and
 * end both lie within the collar (seconds) of the spoken word's.
 */
export function collarF1(transcripts: readonly JudgedTranscript[], collar: number): number {
  const hits = transcripts.flatMap(wordTimeErrors).filter(({ start, end }) => {
    return Math.abs(start) <= collar && Math.abs(end) <= collar;
  });
  const words = transcripts.reduce((sum, { clip, words: own }) => sum + clip.words.length + own.length, 0);
  return words === 0 ? 0 : (200 * hits.length) / words;
}

/** Words that begin outside of speech, of all that were recognised. */
export function wordsOutsideSound(transcripts: readonly JudgedTranscript[]): number {
  return transcripts.flatMap(({ clip, words }) => wordsFarFrom(clip.words, words)).length;
}

function wordsFarFrom(spans: VoicedTranscript['voiced'], words: readonly SpokenWord[]): SpokenWord[] {
  return words.filter(({ start }) => distanceToSound(spans, start) > NEAR_SOUND_SECONDS);
}

/** Seconds between a moment and the nearest of some spans of sound; 0 within one. */
export function distanceToSound(spans: VoicedTranscript['voiced'], seconds: number): number {
  return Math.min(Infinity, ...spans.map(({ start, end }) => Math.max(0, start - seconds, seconds - end)));
}

/** A row for each language that the clips name, and one for all. */
export function unvoicedTable(title: string, transcripts: readonly VoicedTranscript[]): Table {
  const row = (language: string, members: readonly VoicedTranscript[]): Group => {
    const words = members.flatMap((one) => one.words).length;
    const unvoiced = members.flatMap((one) => wordsFarFrom(one.voiced, one.words)).length;
    const share = rounded((100 * unvoiced) / Math.max(1, words));
    return { language, clips: members.length, words, unvoiced, 'unvoiced %': share };
  };
  const named = (one: VoicedTranscript): string => one.clip.language ?? '-';
  const languages = [...new Set(transcripts.map(named))].sort();
  const rows = languages.map((language) =>
    row(
      language,
      transcripts.filter((one) => named(one) === language),
    ),
  );
  return { title, rows: [...rows, row('all', transcripts)] };
}

type Group = Readonly<Record<string, Shown>>;

/**
 * A row for each value of `groupOf`, in the order in which the values first appear. Rows without a matched word have
 * counts only.
 */
export function wordTimeTable(
  title: string,
  transcripts: readonly JudgedTranscript[],
  groupOf: (clip: TimedClip) => Group,
): Table {
  const groups = new Map<string, { group: Group; members: JudgedTranscript[] }>();
  for (const transcript of transcripts) {
    const group = groupOf(transcript.clip);
    const name = JSON.stringify(group);
    const known = groups.get(name) ?? { group, members: [] };
    known.members.push(transcript);
    groups.set(name, known);
  }
  return { title, rows: [...groups.values()].map(({ group, members }) => ({ ...group, ...row(members) })) };
}

function row(transcripts: readonly JudgedTranscript[]): Group {
  const errors = transcripts.flatMap(wordTimeErrors);
  const starts = errors.map(({ start }) => 1000 * start);
  const ends = errors.map(({ end }) => 1000 * end);
  const count = (of: (one: JudgedTranscript) => readonly unknown[]): number =>
    transcripts.reduce((sum, one) => sum + of(one).length, 0);
  const recognised = count(({ words }) => words);
  return {
    clips: transcripts.length,
    words: count(({ clip }) => clip.words),
    matched: errors.length,
    'start, ms': distance(starts, 0.5),
    'start p90, ms': distance(starts, 0.9),
    'within 150 ms %': within(starts, 150),
    'start late, ms': middle(starts),
    'end, ms': distance(ends, 0.5),
    'end p90, ms': distance(ends, 0.9),
    'end late, ms': middle(ends),
    'F1 50 ms': rounded(collarF1(transcripts, 0.05) / 100),
    'F1 200 ms': rounded(collarF1(transcripts, 0.2) / 100),
    'outside sound %': rounded((100 * wordsOutsideSound(transcripts)) / Math.max(1, recognised)),
  };
}

function distance(errors: readonly number[], share: number): Shown {
  return errors.length === 0 ? null : rounded(percentile(errors.map(Math.abs), share));
}

/** With its sign: whether times run ahead or behind as a whole. */
function middle(errors: readonly number[]): Shown {
  return errors.length === 0 ? null : rounded(median(errors));
}

function within(errors: readonly number[], limit: number): Shown {
  if (errors.length === 0) return null;
  return rounded((100 * errors.filter((error) => Math.abs(error) <= limit).length) / errors.length);
}
