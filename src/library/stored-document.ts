/** The form in which the ledger keeps a transcript. Times are whole milliseconds; segments and words are lists. */
import type { JsonValue } from '../ledger/json.js';
import type { TimedText, TimedWord } from '../transcription/timed-text.js';
import type { KeptSegment, Note, TranscriptDocument } from './document.js';

type StoredWord = [startMs: number, endMs: number, text: string, probability: number];
/** S1 as 1; 0: nobody asked who speaks. */
export type StoredSegment = [startMs: number, endMs: number, text: string, speaker: number, words: StoredWord[]];
type StoredLine = [startMs: number, endMs: number, text: string, speaker: number];

/** A form that was released is never changed: a new one is added beside it. */
type StoredDocument1 = {
  form: 1;
  durationSeconds: number;
  language: string;
  segments: StoredSegment[];
  names: Record<string, string>;
  translation: { language: string; text: string; segments: StoredLine[] | null } | null;
  notes: StoredNote[];
};

export type StoredNote = [id: string, atMs: number, text: string];

export function storedDocument(document: TranscriptDocument): JsonValue & object {
  const { durationSeconds, language, segments, names, translation, notes } = document;
  const stored: StoredDocument1 = {
    ...{ form: 1, durationSeconds, language },
    segments: segments.map(storedSegment),
    names: { ...names },
    translation: translation && { ...translation, segments: translation.segments?.map(storedLine) ?? null },
    notes: notes.map(storedNote),
  };
  return stored;
}

/** Throws an Error when another version of Verbatim stored it in a form that this one does not know. */
export function documentFrom(stored: JsonValue): TranscriptDocument {
  if (!isForm1(stored)) throw new Error('A kept transcript has a form that this version of Verbatim cannot read.');
  const { durationSeconds, language, segments, names, translation, notes } = stored;
  return {
    ...{ durationSeconds, language },
    segments: segments.map(segmentFrom),
    names,
    translation: translation && { ...translation, segments: translation.segments?.map(lineOf) ?? null },
    notes: notes.map(noteOf),
  };
}

function isForm1(stored: unknown): stored is StoredDocument1 {
  return typeof stored === 'object' && stored !== null && 'form' in stored && stored.form === 1;
}

export function storedSegment(segment: KeptSegment): StoredSegment {
  const words = segment.words.map((word): StoredWord => [...spanOf(word), word.text, word.probability]);
  return [...storedLine(segment), words];
}

export function segmentFrom([startMs, endMs, text, speaker, words]: StoredSegment): KeptSegment {
  const timed = words.map(([start, end, word, probability]): TimedWord => {
    return { startSeconds: start / 1000, endSeconds: end / 1000, text: word, probability };
  });
  return { ...lineOf([startMs, endMs, text, speaker]), words: timed };
}

export function storedNote({ id, atSeconds, text }: Note): StoredNote {
  return [id, Math.round(atSeconds * 1000), text];
}

export function noteOf([id, atMs, text]: StoredNote): Note {
  return { id, atSeconds: atMs / 1000, text };
}

function storedLine(line: TimedText): StoredLine {
  return [...spanOf(line), line.text, Number(line.speaker?.slice(1) ?? 0)];
}

function lineOf([startMs, endMs, text, speaker]: StoredLine): TimedText {
  const line = { startSeconds: startMs / 1000, endSeconds: endMs / 1000, text };
  return speaker === 0 ? line : { ...line, speaker: `S${speaker}` };
}

function spanOf({ startSeconds, endSeconds }: TimedText): [startMs: number, endMs: number] {
  return [Math.round(startSeconds * 1000), Math.round(endSeconds * 1000)];
}
