/** The result of a transcription, and the form in which the ledger keeps it for a repeat of the request. */
import { JsonText } from '../ledger/json.js';
import type { Charge } from '../ledger/types.js';
import type { JsonValue } from '../ledger/json.js';
import type { DescribedSegment } from './described.js';
import { jsonText } from './json-pieces.js';
import type { TimedText, TimedWord } from './timed-text.js';
import type { Warning } from './warnings.js';

export interface TranscriptionResult extends Charge {
  id: string;
  durationSeconds: number;
  language: string;
  text: string;
  /** null where none were asked for. */
  segments: TimedText[] | null;
  words: TimedWord[] | null;
  /** The model's own segments; null where none were asked for. */
  described: DescribedSegment[] | null;
  translation: Translation | null;
  warnings: Warning[];
  /** The name of the speech model; null: a version stored the result that did not note it. */
  model: string | null;
}

export interface Translation {
  language: string;
  text: string;
  /** null where none were asked for. */
  segments: TimedText[] | null;
  described: DescribedSegment[] | null;
}

type StoredText = [startMs: number, endMs: number, text: string];
type StoredWord = [...StoredText, probability: number];
/** With S1 as 1; 0: nobody asked who speaks. */
type StoredSpokenText = [...StoredText, speaker: number];
type StoredSpokenWord = [...StoredWord, speaker: number];

/**
 * Without values that the ledger has itself. A version that was released is never changed: a new one is added beside
 * it.
 */
type StoredResult1 = {
  version: 1;
  id: string;
  durationSeconds: number;
  language: string;
  text: string;
  translation: { language: string; text: string } | null;
  warnings: Warning[];
};

/** Texts and words are lists, which take a third of the room of objects: an hour has some 10,000 words. */
type StoredResult2 = Omit<StoredResult1, 'version' | 'translation'> & {
  version: 2;
  segments: StoredText[] | null;
  words: StoredWord[] | null;
  translation: { language: string; text: string; segments: StoredText[] | null } | null;
};

/** With the model's own segments, where they were requested. */
type StoredResult3 = Omit<StoredResult2, 'version' | 'translation'> & {
  version: 3;
  described: DescribedSegment[] | null;
  translation: (NonNullable<StoredResult2['translation']> & { described: DescribedSegment[] | null }) | null;
};

/** With who speaks, where it was asked. */
type StoredResult4 = Omit<StoredResult3, 'version' | 'segments' | 'words' | 'translation'> & {
  version: 4;
  segments: StoredSpokenText[] | null;
  words: StoredSpokenWord[] | null;
  translation:
    (Omit<NonNullable<StoredResult3['translation']>, 'segments'> & { segments: StoredSpokenText[] | null }) | null;
};

/** With the model that made it. */
type StoredResult5 = Omit<StoredResult4, 'version'> & { version: 5; model: string | null };

type Uncharged = Omit<TranscriptionResult, keyof Charge>;

/** The stored form: the newest version. */
export function storedResult({ segments, words, translation, ...rest }: Uncharged): StoredResult5 {
  return {
    version: 5,
    ...rest,
    segments: segments && segments.map(storedSpokenText),
    words: words && words.map(storedSpokenWord),
    translation: translation && {
      ...translation,
      segments: translation.segments && translation.segments.map(storedSpokenText),
    },
  };
}

/** The same, as the JSON that it is kept in: a long one is written piece by piece, so that others get their turns. */
export async function resultText(result: Uncharged): Promise<JsonText> {
  return new JsonText(await jsonText(storedResult(result)));
}

/** Throws an Error when another version of Verbatim stored it in a form that this one does not know. */
export function resultOf(stored: JsonValue, charge: Charge): TranscriptionResult {
  if (isVersion<StoredResult1>(stored, 1)) return { ...fromVersion1(stored), ...charge };
  if (isVersion<StoredResult2>(stored, 2)) return { ...fromVersion2(stored), ...charge };
  if (isVersion<StoredResult3>(stored, 3)) return { ...fromVersion3(stored), ...charge };
  if (isVersion<StoredResult4>(stored, 4)) return { ...fromVersion4(stored), ...charge };
  if (isVersion<StoredResult5>(stored, 5)) return { ...fromVersion4(stored), model: stored.model, ...charge };
  throw new Error('A stored result has a form that this version of Verbatim cannot read.');
}

function isVersion<T extends { version: number }>(stored: unknown, version: T['version']): stored is T {
  return typeof stored === 'object' && stored !== null && 'version' in stored && stored.version === version;
}

/** It knew no times. */
function fromVersion1(stored: StoredResult1): Uncharged {
  const { translation } = stored;
  return {
    ...untimed(stored),
    segments: null,
    words: null,
    described: null,
    translation: translation && { ...translation, segments: null, described: null },
  };
}

function fromVersion4(stored: Omit<StoredResult4, 'version'>): Uncharged {
  const { segments, words, described, translation } = stored;
  return {
    ...untimed(stored),
    segments: segments && segments.map(spokenText),
    words: words && words.map(spokenWord),
    described,
    translation: translation && {
      ...translation,
      segments: translation.segments && translation.segments.map(spokenText),
    },
  };
}

function fromVersion3(stored: StoredResult3): Uncharged {
  const { described, translation, ...rest } = stored;
  const timed = fromVersion2({ ...rest, version: 2, translation });
  return {
    ...timed,
    described,
    translation: timed.translation && { ...timed.translation, described: translation?.described ?? null },
  };
}

function fromVersion2(stored: StoredResult2): Uncharged {
  const { segments, words, translation } = stored;
  return {
    ...untimed(stored),
    segments: segments && segments.map(timedText),
    words: words && words.map(timedWord),
    described: null,
    translation: translation && {
      ...translation,
      segments: translation.segments && translation.segments.map(timedText),
      described: null,
    },
  };
}

type Untimed = Pick<StoredResult1, 'id' | 'durationSeconds' | 'language' | 'text' | 'warnings'>;

/** None of the first four versions noted the model. */
function untimed({ id, durationSeconds, language, text, warnings }: Untimed): Untimed & { model: null } {
  return { id, durationSeconds, language, text, warnings, model: null };
}

function storedText({ startSeconds, endSeconds, text }: TimedText): StoredText {
  return [Math.round(startSeconds * 1000), Math.round(endSeconds * 1000), text];
}

function storedSpokenText(text: TimedText): StoredSpokenText {
  return [...storedText(text), numberOf(text)];
}

function storedSpokenWord(word: TimedWord): StoredSpokenWord {
  return [...storedText(word), word.probability, numberOf(word)];
}

function numberOf({ speaker }: TimedText): number {
  return Number(speaker?.slice(1) ?? 0);
}

function spokenText([startMs, endMs, text, speaker]: StoredSpokenText): TimedText {
  return withSpeaker(timedText([startMs, endMs, text]), speaker);
}

function spokenWord([startMs, endMs, text, probability, speaker]: StoredSpokenWord): TimedWord {
  return withSpeaker(timedWord([startMs, endMs, text, probability]), speaker);
}

function withSpeaker<T extends TimedText>(text: T, number: number): T {
  if (number > 0) text.speaker = `S${number}`;
  return text;
}

function timedText([startMs, endMs, text]: StoredText): TimedText {
  return { startSeconds: startMs / 1000, endSeconds: endMs / 1000, text };
}

function timedWord([startMs, endMs, text, probability]: StoredWord): TimedWord {
  return { startSeconds: startMs / 1000, endSeconds: endMs / 1000, text, probability };
}
