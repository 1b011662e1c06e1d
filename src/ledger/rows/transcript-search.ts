/**
 * What a transcript is found by: lines of words. The first line has what it is filtered by, and its title; the others
 * are its texts. Filters are words as well, so that one index answers them together.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { searchTermsOf, searchWordsOf, type SearchTerms } from '../search-words.js';
import type { StoredTranscript, TranscriptQuery } from '../transcripts.js';

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

export interface Search {
  /** null: no words were given. */
  terms: SearchTerms | null;
  /** All that must be in it, filters included; null: any of the account's. */
  needed: SearchTerms | null;
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
  const found = [filter('account', accountId), ...filters, ...(terms?.words ?? [])];
  return { terms, needed: { words: found, prefixes: terms?.prefixes ?? [] } };
}

/** For SQLite's FTS5. Words are letters and digits, so that quotes hold them. */
export function ftsQuery({ words, prefixes }: SearchTerms): string {
  return [...words.map((word) => `"${word}"`), ...prefixes.map((prefix) => `"${prefix}"*`)].join(' AND ');
}

/** PostgreSQL's tsquery. */
export function tsQuery({ words, prefixes }: SearchTerms): string {
  return [...words.map((word) => `'${word}'`), ...prefixes.map((prefix) => `'${prefix}':*`)].join(' & ');
}

/** See TranscriptHit. */
export function matchesIn(stored: string, { words, prefixes }: SearchTerms): number[] {
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
