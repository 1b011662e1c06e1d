/** How long a search of kept transcripts takes, by kinds of words, beside many transcripts of several accounts. */
import type { Ledger } from '../../src/ledger/ledger.js';
import type { TranscriptQuery } from '../../src/ledger/transcripts.js';
import { percentiles, type Percentiles } from '../reports/statistics.js';
import { pick, seededRandom, type Random } from './random.js';

export interface LibraryLoad {
  /** In all; six tenths are the first account's, the others are those of four more. */
  transcripts: number;
  /** Of each kind; some before them do not count. */
  searches: number;
  onProgress?: (line: string) => void;
}

export interface SearchTimes extends Percentiles {
  account: 'large' | 'small';
  kind: string;
  /** Milliseconds. */
  most: number;
  /** Of those that found something. */
  found: number;
}

export interface LibraryMeasurement {
  /** A second, of KEPT_AT_ONCE callers. */
  keptPerSecond: number;
  searches: SearchTimes[];
  /** Milliseconds, of some of them. */
  deletions: Percentiles;
}

const WORDS_EACH = 300;
/** A segment of speech. */
const WORDS_A_TEXT = 12;
const VOCABULARY = 50_000;
const SMALL_ACCOUNTS = 4;
const LARGE_SHARE = 0.6;
export const KEPT_AT_ONCE = 16;
const WARM_UP = 3;
const PAGE = 20;
const SYLLABLES = [
  ...['ba', 'con', 'de', 'ing', 'la', 'mer', 'no', 'per', 're', 'sta', 'ti', 'ver', 'wo', 'cha', 'do', 'el', 'for'],
  ...['gra', 'hi', 'ju', 'ka', 'lo', 'mu', 'ne', 'or', 'pla', 'qui', 'ro', 'si', 'tra', 'un', 'vi', 'yo', 'ze'],
];
const ROOM = Number.MAX_SAFE_INTEGER;

/** Who has them. */
interface Keepers {
  large: string;
  small: readonly string[];
}

export async function measureLibrary(ledger: Ledger, load: LibraryLoad): Promise<LibraryMeasurement> {
  const random = seededRandom(1);
  const vocabulary = vocabularyOf(random);
  const small: string[] = [];
  while (small.length < SMALL_ACCOUNTS) small.push(await accountOf(ledger, String(small.length)));
  const keepers = { large: await accountOf(ledger, 'large'), small };
  const start = performance.now();
  await keepAll(ledger, keepers, { ...load, random, vocabulary });
  const keptPerSecond = (load.transcripts * 1000) / (performance.now() - start);
  const searches = await measureSearches(ledger, keepers, load);
  return { keptPerSecond, searches, deletions: await deletionsOf(ledger, keepers.large, load.searches) };
}

/** Among what measureLibrary() has kept, perhaps in another database. */
export async function measureSearches(
  ledger: Ledger,
  { large, small }: Keepers,
  { searches, onProgress }: Pick<LibraryLoad, 'searches' | 'onProgress'>,
): Promise<SearchTimes[]> {
  const random = seededRandom(2);
  const vocabulary = vocabularyOf(seededRandom(1));
  const measured: SearchTimes[] = [];
  for (const account of ['large', 'small'] as const) {
    const accountId = account === 'large' ? large : pick(random, small);
    for (const [kind, queryOf] of Object.entries(QUERIES)) {
      onProgress?.(`${account} account, ${kind}`);
      const times = await timesOf(ledger, accountId, () => queryOf(random, vocabulary), searches);
      measured.push({ account, kind, ...times });
    }
  }
  return measured;
}

type Query = Partial<TranscriptQuery>;
type QueryOf = (random: Random, vocabulary: readonly string[]) => Query;

/** Words by how common they are: every transcript has the first ones, few have the last. */
const QUERIES: Readonly<Record<string, QueryOf>> = {
  'a common word': (random, words) => ({ words: pick(random, words.slice(0, 50)) }),
  'two common words': (random, words) => ({
    words: `${pick(random, words.slice(0, 50))} ${pick(random, words.slice(0, 50))} `,
  }),
  'a word of some': (random, words) => ({ words: pick(random, words.slice(500, 2_000)) }),
  'two words of some': (random, words) => ({
    words: `${pick(random, words.slice(200, 1_000))} ${pick(random, words.slice(200, 1_000))}`,
  }),
  'a rare word': (random, words) => ({ words: pick(random, words.slice(20_000)) }),
  'a common and a rare word': (random, words) => ({
    words: `${pick(random, words.slice(20_000))} ${pick(random, words.slice(0, 50))}`,
  }),
  'an unfinished word, 3 letters': (random) => ({ words: pick(random, SYLLABLES.filter(isThree)) }),
  'an unfinished word, 5 letters': (random, words) => ({
    words: pick(random, words.slice(1_000, 10_000).filter(isLong)).slice(0, 5),
  }),
  'a word of none': (random) => ({ words: `${pick(random, SYLLABLES)}qqq` }),
  'no word, a language': () => ({ words: null, language: 'de' }),
  'a common word, a language': (random, words) => ({ words: pick(random, words.slice(0, 50)), language: 'de' }),
  'no word': () => ({ words: null }),
};

const isThree = (syllable: string): boolean => syllable.length === 3;
const isLong = (word: string): boolean => word.length > 6;

async function keepAll(
  ledger: Ledger,
  { large, small }: Keepers,
  { transcripts, onProgress, random, vocabulary }: LibraryLoad & { random: Random; vocabulary: readonly string[] },
): Promise<void> {
  let next = 0;
  const keeper = async (): Promise<void> => {
    while (next < transcripts) {
      const n = next++;
      if (n % 10_000 === 0) onProgress?.(`${n} transcripts are kept`);
      const accountId = random() < LARGE_SHARE ? large : pick(random, small);
      const texts = textsOf(random, vocabulary);
      await ledger.transcripts.keep(
        {
          ...{ id: `tr_bench_${n}`, accountId, title: `recording ${n}.mp3`, keepDays: null, durationSeconds: 120 },
          ...{ language: n % 100 === 0 ? 'de' : 'en', translationLanguage: null, speakers: ['S1', 'S2'] },
          ...{ model: 'base', source: { kind: 'api', name: 'bench' }, audioBytes: 0, content: texts },
          searchTexts: texts,
        },
        ROOM,
      );
    }
  };
  await Promise.all(Array.from({ length: KEPT_AT_ONCE }, keeper));
}

async function timesOf(
  ledger: Ledger,
  accountId: string,
  ask: () => Query,
  searches: number,
): Promise<Percentiles & { most: number; found: number }> {
  const times: number[] = [];
  let found = 0;
  for (let n = -WARM_UP; n < searches; n++) {
    const query = { words: null, limit: PAGE, after: null, ...ask() };
    const start = performance.now();
    const hits = await ledger.transcripts.list(accountId, query);
    if (n < 0) continue;
    times.push(performance.now() - start);
    if (hits.length > 0) found += 1;
  }
  return { ...percentiles(times), most: Math.max(...times), found };
}

async function deletionsOf(ledger: Ledger, accountId: string, most: number): Promise<Percentiles> {
  const times: number[] = [];
  for (const { transcript } of await ledger.transcripts.list(accountId, { words: null, limit: most, after: null })) {
    const start = performance.now();
    await ledger.transcripts.delete(accountId, transcript.id);
    times.push(performance.now() - start);
  }
  return percentiles(times);
}

async function accountOf(ledger: Ledger, name: string): Promise<string> {
  const email = `ledger-bench-library-${process.pid}-${Date.now()}-${name}@localhost`;
  return (await ledger.accounts.create({ email })).id;
}

function vocabularyOf(random: Random): string[] {
  const words = new Set<string>();
  while (words.size < VOCABULARY) {
    // Common words are short.
    const syllables = 1 + Math.floor(random() * (words.size < 200 ? 2 : 4));
    words.add(Array.from({ length: syllables }, () => pick(random, SYLLABLES)).join(''));
  }
  return Array.from(words);
}

/** As often as Zipf has it: a word's rank times how often it comes is about the same for all. */
function textsOf(random: Random, vocabulary: readonly string[]): string[] {
  const words = Array.from({ length: WORDS_EACH }, () => vocabulary[Math.floor(VOCABULARY ** random()) - 1] ?? 'x');
  const texts: string[] = [];
  for (let n = 0; n < words.length; n += WORDS_A_TEXT) texts.push(words.slice(n, n + WORDS_A_TEXT).join(' '));
  return texts;
}
