/** The same clips heard in two ways, beside what is said in them. */
import type { SpokenClip } from '../load/clips.js';
import { rounded, type Shown, type Table } from './report.js';
import { WordErrorRate, wordErrors } from './wer.js';

export interface Heard {
  /** ISO 639-1. */
  language: string;
  text: string;
}

export interface HeardTwice {
  clip: SpokenClip;
  first: Heard;
  second: Heard;
}

export interface TranscriptColumns<T extends HeardTwice> {
  title: string;
  /** Names of the two ways. */
  first: string;
  second: string;
  /** Default: it does. */
  secondTellsLanguage?: boolean;
  /** What the clips of a row have in common; default: their language. */
  groupOf?: (clip: SpokenClip) => Readonly<Record<string, string>>;
  /** More columns. */
  more?: (group: readonly T[]) => Readonly<Record<string, Shown>>;
}

/** Words wrong, in percent. */
export function errorRate(heard: readonly HeardTwice[], which: 'first' | 'second'): number {
  const rate = new WordErrorRate();
  for (const { clip, [which]: own } of heard) rate.add(wordErrors(clip.text, own.text));
  return rate.percent;
}

/** Points of the first over the second. */
export function errorDifference(heard: readonly HeardTwice[]): number {
  return errorRate(heard, 'first') - errorRate(heard, 'second');
}

/** By name of the group, in order of the names. */
export function groups<T extends HeardTwice>(
  heard: readonly T[],
  nameOf: (clip: SpokenClip) => string,
): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const one of heard) {
    const name = nameOf(one.clip);
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return new Map([...found].sort(([a], [b]) => a.localeCompare(b)));
}

/** A row a group, and one for all clips where there is more than one group. */
export function transcriptTable<T extends HeardTwice>(
  heard: readonly T[],
  columns: TranscriptColumns<T>,
): Table {
  const groupOf = columns.groupOf ?? (({ language }) => ({ language }));
  const named = groups(heard, (clip) => Object.values(groupOf(clip)).join(' | '));
  const rows = [...named.values()].map((group) => row(groupOf(group[0]?.clip ?? NOBODY), group, columns));
  if (named.size < 2) return { title: columns.title, rows };
  const all = Object.fromEntries(Object.keys(groupOf(NOBODY)).map((name) => [name, 'all']));
  return { title: columns.title, rows: [...rows, row(all, heard, columns)] };
}

const NOBODY: SpokenClip = { path: '', language: '', text: '', sentences: null, voices: null };

function row<T extends HeardTwice>(
  group: Readonly<Record<string, string>>,
  heard: readonly T[],
  { first, second, secondTellsLanguage = true, more }: TranscriptColumns<T>,
): Table['rows'][number] {
  const share = (is: (one: T) => boolean): string => `${heard.filter(is).length}/${heard.length}`;
  return {
    ...group,
    [`${first} WER %`]: rounded(errorRate(heard, 'first')),
    [`${second} WER %`]: rounded(errorRate(heard, 'second')),
    difference: rounded(errorDifference(heard)),
    'same text': share((one) => one.first.text === one.second.text),
    [`language right, ${first}`]: share((one) => one.first.language === one.clip.language),
    ...(secondTellsLanguage
      ? { [`language right, ${second}`]: share((one) => one.second.language === one.clip.language) }
      : {}),
    ...more?.(heard),
  };
}

/** The texts and languages that are not the same, to be looked at; none for none. */
export function differingTables(
  heard: readonly HeardTwice[],
  { title, first, second }: Pick<TranscriptColumns<HeardTwice>, 'title' | 'first' | 'second'>,
): Table[] {
  const rows = heard.filter(differs).map((one) => ({
    clip: one.clip.path,
    [first]: `${one.first.language}: ${one.first.text}`,
    [second]: `${one.second.language}: ${one.second.text}`,
  }));
  return rows.length === 0 ? [] : [{ title: `${title}: what differs`, rows }];
}

export function differs({ first, second }: HeardTwice): boolean {
  return first.text !== second.text || first.language !== second.language;
}
