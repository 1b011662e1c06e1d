/** How long the sentences of the manual are, and how many are in the passive voice. */
import { documentPaths, parseDocument } from './markdown.js';

export interface SentenceFigures {
  sentences: number;
  /** Words per sentence. */
  average: number;
  /** Shares, from 0 to 1. */
  long: number;
  passive: number;
}

const LONG_WORDS = 30;
const LIMITS = { average: 16, long: 0.05 };
/** What users and contributors read. Benchmarks and cards of models are records of measurements. */
const MANUAL = /^(docs\/|README\.md$|CONTRIBUTING\.md$|SECURITY\.md$|src\/client\/README\.md$)/;

const PASSIVE =
  /\b(?:is|are|was|were|be|been|being)\s+(?:(?:not|never|also|then|only|still|\w+ly)\s+)*(?:\w{2,}ed|kept|made|sent|read|written|taken|given|held|found|known|shown|done|left|lost|cut|set|put|paid|meant|begun|chosen|spoken|built|run)\b/i;

/** Sentences end with a full stop, a question mark or an exclamation mark; a colon ends one where a list follows. */
export function sentencesOf(paragraph: string): string[] {
  return paragraph
    .split(/(?<=[.?!])["')*_]*\s+(?=["'(*_`[]*[A-Z0-9`])|:\s*$/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[A-Za-z]/.test(sentence));
}

export function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

export function figuresOf(paragraphs: readonly string[]): SentenceFigures {
  const sentences = paragraphs.flatMap(sentencesOf);
  const count = Math.max(1, sentences.length);
  const lengths = sentences.map(wordsOf);
  return {
    sentences: sentences.length,
    average: lengths.reduce((sum, length) => sum + length, 0) / count,
    long: lengths.filter((length) => length > LONG_WORDS).length / count,
    passive: sentences.filter((sentence) => PASSIVE.test(sentence)).length / count,
  };
}

function line(name: string, { sentences, average, long, passive }: SentenceFigures): string {
  const percent = (share: number): string => `${Math.round(100 * share)} %`.padStart(5);
  return `${name.padEnd(36)} ${String(sentences).padStart(5)} ${average.toFixed(1).padStart(6)} ${percent(long)} ${percent(passive)}`;
}

if (require.main === module) {
  const pages = documentPaths().filter((path) => MANUAL.test(path));
  const read = pages.map((path) => ({ path, paragraphs: parseDocument(path).paragraphs }));
  const rows = read.map(({ path, paragraphs }) => ({ path, figures: figuresOf(paragraphs) }));
  const all = figuresOf(read.flatMap(({ paragraphs }) => paragraphs));
  const head = `${'page'.padEnd(36)} sentences  words  > ${LONG_WORDS}  passive`;
  process.stdout.write(
    [head, ...rows.map(({ path, figures }) => line(path, figures)), line('all', all), ''].join('\n'),
  );
  const wrong = [...rows, { path: 'all pages', figures: all }].filter(
    ({ figures }) => figures.average > LIMITS.average || figures.long > LIMITS.long,
  );
  for (const { path } of wrong)
    process.stderr.write(
      `${path}: shorten sentences: ${LIMITS.average} words on average are allowed, and ${100 * LIMITS.long} % past ${LONG_WORDS}.\n`,
    );
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
