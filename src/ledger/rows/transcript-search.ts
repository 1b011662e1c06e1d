/**
 * What a transcript is found by: lines of words. The first line has what it is filtered by, and its title; the others
 * are its texts. Filters are words as well, so that one index answers them together.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { searchTermsOf, searchWordsOf, type SearchTerms } from '../search-words.js';
import type { StoredTranscript, TranscriptHit, TranscriptQuery } from '../transcripts.js';
import { toTranscript, type TranscriptRow } from './transcripts.js';

/**
 * Of the different words of one transcript, in bytes: PostgreSQL indexes 1 MiB. Nobody says as much in four hours, but
 * a correction may; words beyond it are not found.
 */
const MOST_WORD_BYTES = 900_000;
/** Characters that are worked on in one turn of the event loop. */
const CHARACTERS_A_TURN = 50_000;
const MOST_MATCHES = 3;

type Filtered = Pick<StoredTranscript, 'accountId' | 'title' | 'language' | 'speakers' | 'source'>;

export function headLine({ accountId, title, language, speakers, source }: Filtered): string {
  const filters = [filter('account', accountId), filter('language', language), filter('source', source.kind)];
  const names = speakers.map((name) => filter('speaker', nameOf(name)));
  return [...filters, ...names, ...[title, ...speakers].flatMap(searchWordsOf)].join(' ');
}

/** Lets others have their turn while it works on long ones. */
export async function textLines(texts: readonly string[]): Promise<string[]> {
  const known = new Set<string>();
  let room = MOST_WORD_BYTES;
  const isIndexed = (word: string): boolean => {
    if (known.has(word)) return true;
    const bytes = Buffer.byteLength(word);
    if (bytes > room) return false;
    room -= bytes;
    known.add(word);
    return true;
  };
  const lines: string[] = [];
  let characters = 0;
  for (const text of texts) {
    lines.push(searchWordsOf(text).filter(isIndexed).join(' '));
    characters += text.length;
    if (characters > CHARACTERS_A_TURN) {
      characters = 0;
      await setImmediate();
    }
  }
  return lines;
}

export function joinLines(head: string, lines: readonly string[]): string {
  return [head, ...lines].join('\n');
}

export function replaceHead(stored: string, head: string): string {
  const end = stored.indexOf('\n');
  return end < 0 ? head : head + stored.slice(end);
}

/** All that must be in a transcript, filters included. */
export interface NeededTerms {
  words: readonly string[];
  prefixes: readonly string[];
}

export interface Search {
  /** null: no words were given. */
  terms: SearchTerms | null;
  /** null: any of the account's. */
  needed: NeededTerms | null;
}

export function transcriptSearch(accountId: string, query: TranscriptQuery): Search {
  const { words, language = null, source = null, speaker = null } = query;
  const terms = words === null ? null : searchTermsOf(words);
  const filters = [
    ...(language === null ? [] : [filter('language', language)]),
    ...(source === null ? [] : [filter('source', source)]),
    ...(speaker === null ? [] : [filter('speaker', nameOf(speaker))]),
  ];
  if (terms === null && filters.length === 0) return { terms, needed: null };
  return {
    terms,
    needed: {
      words: [filter('account', accountId), ...filters, ...(terms?.words ?? [])],
      prefixes: terms?.prefixes ?? [],
    },
  };
}

/** The rows of a page that have such terms; `anywhere`: one of those on any page. */
export type FindRows<Row> = (needed: NeededTerms | null, anywhere?: 'anywhere') => Promise<Row[]>;

/**
 * A page of hits. A last word that a transcript has is whole: no other is asked for those that go on, which of a common
 * word would be most.
 */
export async function findHits<Row extends TranscriptRow & { tokens: string }>(
  { terms, needed }: Search,
  isFirstPage: boolean,
  find: FindRows<Row>,
): Promise<TranscriptHit[]> {
  if (terms === null || needed === null) return (await find(needed)).map((row) => hitOf(row, null));
  const { last } = terms;
  const whole = last === null ? needed : { ...needed, words: [...needed.words, last] };
  const rows = await find(whole);
  const isWhole = last === null || rows.length > 0 || (!isFirstPage && (await find(whole, 'anywhere')).length > 0);
  if (isWhole)
    return rows.map((row) => hitOf(row, { ...terms, words: last === null ? terms.words : [...terms.words, last] }));
  const begun = await find({ ...needed, prefixes: [...needed.prefixes, last] });
  return begun.map((row) => hitOf(row, { ...terms, prefixes: [...terms.prefixes, last] }));
}

function hitOf(row: TranscriptRow & { tokens: string }, sought: NeededTerms | null): TranscriptHit {
  return { transcript: toTranscript(row), matches: sought === null ? [] : matchesIn(row.tokens, sought) };
}

/** For SQLite's FTS5. Words are letters and digits, so that quotes hold them. */
export function ftsQuery({ words, prefixes }: NeededTerms): string {
  return [...words.map((word) => `"${word}"`), ...prefixes.map((prefix) => `"${prefix}"*`)].join(' AND ');
}

/** PostgreSQL's tsquery. */
export function tsQuery({ words, prefixes }: NeededTerms): string {
  return [...words.map((word) => `'${word}'`), ...prefixes.map((prefix) => `'${prefix}':*`)].join(' & ');
}

/** See TranscriptHit. */
function matchesIn(stored: string, { words, prefixes }: NeededTerms): number[] {
  const lines = stored.split('\n').slice(1);
  const sought = [...words.map((word) => ` ${word} `), ...prefixes.map((prefix) => ` ${prefix}`)];
  const counted = lines.map((line) => {
    const spaced = ` ${line} `;
    return sought.filter((term) => spaced.includes(term)).length;
  });
  const most = counted.includes(sought.length) ? sought.length : 1;
  const found = counted.flatMap((count, index) => (count >= most ? [index] : []));
  return found.slice(0, MOST_MATCHES);
}

/** A word that no text has, since it begins with `_`. */
function filter(kind: 'account' | 'language' | 'source' | 'speaker', value: string): string {
  return `_${createHash('sha256').update(`${kind} ${value}`).digest('hex').slice(0, 20)}`;
}

function nameOf(speaker: string): string {
  const words = searchWordsOf(speaker).join(' ');
  return words === '' ? speaker : words;
}
