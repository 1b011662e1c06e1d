/** Two transcripts of the same clips, beside the reference. */
import type { SpokenClip } from '../load/clips.js';
import { rounded, type Table } from './report.js';
import { WordErrorRate, wordErrors } from './wer.js';

export interface WrittenTranscript {
  /** ISO 639-1. */
  language: string;
  text: string;
}

export interface TranscriptPair {
  clip: SpokenClip;
  first: WrittenTranscript;
  second: WrittenTranscript;
}

export interface TranscriptColumns {
  title: string;
  /** Names of the two ways. */
  first: string;
  second: string;
  /** Default: it does. */
  secondShowsLanguage?: boolean;
  /** What the clips of a row have in common; default: their language. */
  groupOf?: (clip: SpokenClip) => Readonly<Record<string, string>>;
}

/** Words wrong, in percent. */
export function errorRate(pairs: readonly TranscriptPair[], which: 'first' | 'second'): number {
  const rate = new WordErrorRate();
  for (const { clip, [which]: own } of pairs) rate.add(wordErrors(clip.text, own.text));
  return rate.percent;
}

/** By name of the group, in order of the names. */
function groups(pairs: readonly TranscriptPair[], nameOf: (clip: SpokenClip) => string): Map<string, TranscriptPair[]> {
  const found = new Map<string, TranscriptPair[]>();
  for (const one of pairs) {
    const name = nameOf(one.clip);
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return new Map([...found].sort(([a], [b]) => a.localeCompare(b)));
}

/** A row a group, and one for all clips where there is more than one group. */
export function transcriptTable(pairs: readonly TranscriptPair[], columns: TranscriptColumns): Table {
  const groupOf = columns.groupOf ?? (({ language }) => ({ language }));
  const named = groups(pairs, (clip) => Object.values(groupOf(clip)).join(' | '));
  const rows = [...named.values()].map((group) => row(groupOf(group[0]?.clip ?? NOBODY), group, columns));
  if (named.size < 2) return { title: columns.title, rows };
  const all = Object.fromEntries(Object.keys(groupOf(NOBODY)).map((name) => [name, 'all']));
  return { title: columns.title, rows: [...rows, row(all, pairs, columns)] };
}

const NOBODY: SpokenClip = { path: '', language: '', text: '', sentences: null, voices: null };

function row(
  group: Readonly<Record<string, string>>,
  pairs: readonly TranscriptPair[],
  { first, second, secondShowsLanguage = true }: TranscriptColumns,
): Table['rows'][number] {
  const share = (is: (one: TranscriptPair) => boolean): string => `${pairs.filter(is).length}/${pairs.length}`;
  return {
    ...group,
    [`${first} WER %`]: rounded(errorRate(pairs, 'first')),
    [`${second} WER %`]: rounded(errorRate(pairs, 'second')),
    difference: rounded(errorRate(pairs, 'first') - errorRate(pairs, 'second')),
    'same text': share((one) => one.first.text === one.second.text),
    [`language right, ${first}`]: share((one) => one.first.language === one.clip.language),
    ...(secondShowsLanguage
      ? { [`language right, ${second}`]: share((one) => one.second.language === one.clip.language) }
      : {}),
  };
}

/** The texts and languages that are not the same, to be looked at; none for none. */
export function differingTables(
  pairs: readonly TranscriptPair[],
  { title, first, second }: Pick<TranscriptColumns, 'title' | 'first' | 'second'>,
): Table[] {
  const rows = pairs.filter(differs).map((one) => ({
    clip: one.clip.path,
    [first]: `${one.first.language}: ${one.first.text}`,
    [second]: `${one.second.language}: ${one.second.text}`,
  }));
  return rows.length === 0 ? [] : [{ title: `${title}: what differs`, rows }];
}

export function differs({ first, second }: TranscriptPair): boolean {
  return first.text !== second.text || first.language !== second.language;
}
