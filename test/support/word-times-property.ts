/** What must hold of the words of any transcript, whatever was recorded. */
import { expect } from 'chai';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SpeechEngine, Transcript } from '../../src/engine/types.js';
import { wordEventsPath } from '../native/support.js';
import { Mulberry32 } from './random.js';
import { pcmOfWav, randomRecording } from './random-recordings.js';
import { loadRealEngine } from './real-engine.js';
import { measureAndTranscribe } from './transcribe.js';
import { wavOf } from './speech.js';

const LANGUAGES = ['auto', 'en', 'es', 'de', 'fr'];
const AT_ONCE = 4;

/** What is wrong with the words of a transcript; none for nothing. */
export function wordFaults({ durationSeconds, text, segments }: Transcript): string[] {
  const words = segments.flatMap((segment) => segment.words ?? []);
  const faults = words.flatMap((word, index) => {
    const { startSeconds: start, endSeconds: end } = word;
    const before = words[index - 1]?.endSeconds ?? 0;
    return [
      ...(Number.isFinite(start) && Number.isFinite(end) ? [] : ['no time']),
      ...(end < start ? ['ends before it starts'] : []),
      ...(start < before ? ['starts before the word in front of it ends'] : []),
      ...(end > durationSeconds ? ['ends behind the end of the file'] : []),
      ...(word.probability >= 0 && word.probability <= 1 ? [] : ['no probability']),
    ].map((fault) => `"${word.text}" (${start}-${end} s of ${durationSeconds}): ${fault}`);
  });
  for (const segment of segments) {
    const joined = (segment.words ?? []).map((word) => word.text).join('');
    if (joined !== segment.text) faults.push(`"${joined}" are the words of "${segment.text}"`);
  }
  const spaceless = (written: string): string => written.replaceAll(/\s/g, '');
  const all = words.map((word) => word.text).join('');
  if (spaceless(all) !== spaceless(text)) faults.push(`"${all}" are the words of the text "${text}"`);
  return faults;
}

/** So many random recordings through the engine, the floor of confidence off; resolves to the words that were seen. */
export async function checkWordTimes(requests: number, seed: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-words-'));
  const engine = await loadRealEngine({ slots: 2, withoutFloor: true });
  try {
    const random = new Mulberry32(seed);
    let words = 0;
    for (let done = 0; done < requests; done += AT_ONCE) {
      const count = Math.min(AT_ONCE, requests - done);
      const paths = Array.from({ length: count }, (_, index) => writeRequest(random, join(directory, `${index}.wav`)));
      words += (await Promise.all(paths.map((request) => check(engine, request)))).reduce((a, b) => a + b, 0);
    }
    return words;
  } finally {
    await engine.close();
    rmSync(directory, { recursive: true });
  }
}

interface Request {
  path: string;
  language: string;
  recipe: string;
}

function writeRequest(random: Mulberry32, path: string): Request {
  const { pcm, recipe } = randomRecording(random, speech());
  writeFileSync(path, wavOf(pcm));
  return { path, language: random.pick(LANGUAGES), recipe };
}

function speech(): Buffer[] {
  const files = readdirSync(wordEventsPath('')).filter((name) => name.endsWith('.wav'));
  return files.sort().map((name) => pcmOfWav(wordEventsPath(name)));
}

async function check(engine: SpeechEngine, { path, language, recipe }: Request): Promise<number> {
  const transcript = await measureAndTranscribe(engine, { path, accountId: 'one', language, align: true });
  expect(wordFaults(transcript), `${language}: ${recipe}`).to.deep.equal([]);
  return transcript.segments.flatMap((segment) => segment.words ?? []).length;
}
