/** Files that say which words are whose: as it is known, and as the service reports it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpeakerTurn } from '../../src/engine/speakers/speaker-turn.js';
import type { AttributedWord, SpokenTurn } from './word-speakers.js';

/** For the help of options. */
export const SPOKEN_TURN_FILES = 'NAME.json: [{speaker, start, end, text}]';
export const TRANSCRIPT_FILES = 'NAME.json: {segments: [{start, end, speaker}], words: [{word, start, end, speaker}]}';

/** What the service makes of a recording. */
export interface RecognisedRecording {
  words: AttributedWord[];
  /** Its segments: also those in which no word was recognised. */
  turns: SpeakerTurn[];
}

/** Of each of these recordings. Throws an Error that names the file, and says what is wrong with it. */
export function readSpokenTurns(directory: string, recordings: Iterable<string>): Map<string, SpokenTurn[]> {
  return readAll(directory, recordings, SPOKEN_TURN_FILES, (content, place) =>
    listIn(content, place).map((entry, index) => ({
      ...turnOf(entry, `${place}, turn ${index}`),
      text: textOf(entry, 'text', `${place}, turn ${index}`),
    })),
  );
}

/** Likewise. */
export function readTranscripts(directory: string, recordings: Iterable<string>): Map<string, RecognisedRecording> {
  return readAll(directory, recordings, TRANSCRIPT_FILES, (content, place) => {
    const { segments, words } = (content ?? {}) as Entry;
    return {
      turns: listIn(segments, `${place}, segments`)
        .map((entry, index) => turnOf(entry, `${place}, segment ${index}`))
        .filter(({ startSeconds, endSeconds }) => endSeconds > startSeconds),
      words: listIn(words, `${place}, words`).map((entry, index) => ({
        ...turnOf(entry, `${place}, word ${index}`),
        word: textOf(entry, 'word', `${place}, word ${index}`),
      })),
    };
  });
}

type Entry = Readonly<Record<string, unknown>>;

function readAll<T>(
  directory: string,
  recordings: Iterable<string>,
  form: string,
  read: (content: unknown, place: string) => T,
): Map<string, T> {
  const all = new Map<string, T>();
  for (const recording of recordings) {
    const path = join(directory, `${recording}.json`);
    if (!existsSync(path)) throw new Error(`${directory} has no words of "${recording}" (${form}).`);
    all.set(recording, read(parsed(path), path));
  }
  return all;
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} is no JSON: ${(error as Error).message}`, { cause: error });
  }
}

function listIn(value: unknown, place: string): Entry[] {
  if (Array.isArray(value)) return value.map((entry) => (entry ?? {}) as Entry);
  throw new Error(`${place}: a list is missing.`);
}

function turnOf(entry: Entry, place: string): SpeakerTurn {
  const { start, end } = entry;
  if (typeof start !== 'number' || typeof end !== 'number' || !(start >= 0 && end >= start))
    throw new Error(`${place}: start and end are no seconds in order.`);
  return { startSeconds: start, endSeconds: end, speaker: textOf(entry, 'speaker', place) };
}

function textOf(entry: Entry, member: string, place: string): string {
  const text = entry[member];
  if (typeof text === 'string') return text;
  throw new Error(`${place} has no ${member}.`);
}
