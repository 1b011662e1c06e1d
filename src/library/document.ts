/**
 * A kept transcript as it is shown, corrected and exported: segments with their words, names of speakers, a translation
 * and notes. Times are seconds on the file's time line, in whole thousandths.
 */
import { joinTexts } from '../engine/transcript-text.js';
import type { StoredTranscript } from '../ledger/transcripts.js';
import { speakerLines } from '../transcription/diarized.js';
import type { TimedText, TimedWord } from '../transcription/timed-text.js';

/** Its index among the document's segments never changes. */
export interface KeptSegment extends TimedText {
  /** Joined they are the text, spaces aside; none where no words were aligned. Without speakers of their own. */
  words: TimedWord[];
}

export interface KeptTranslation {
  language: string;
  text: string;
  /** null: it has no times. */
  segments: TimedText[] | null;
}

/** A person's remark at a time of the recording. */
export interface Note {
  id: string;
  atSeconds: number;
  text: string;
}

export interface TranscriptDocument {
  durationSeconds: number;
  /** ISO 639-1: as it was spoken. */
  language: string;
  segments: KeptSegment[];
  /** Names that people gave, by S1, S2, …; the others are shown as they are. */
  names: Readonly<Record<string, string>>;
  /** As it was made: corrections do not change it. */
  translation: KeptTranslation | null;
  /** In the order of their times. */
  notes: Note[];
}

/** A transcript with all that a list has of it. */
export interface KeptTranscript {
  stored: StoredTranscript;
  document: TranscriptDocument;
}

/** S1, S2, …: of the segments, in the order in which they first speak. */
export function speakerIds({ segments }: Pick<TranscriptDocument, 'segments'>): string[] {
  return [...new Set(segments.flatMap(({ speaker }) => speaker ?? []))];
}

export function nameOf({ names }: Pick<TranscriptDocument, 'names'>, speaker: string): string {
  return names[speaker] ?? speaker;
}

/** As they are shown. */
export function namesOf(document: TranscriptDocument): string[] {
  return speakerIds(document).map((speaker) => nameOf(document, speaker));
}

/** Whether words have times: those that a person writes then get some, too. */
export function hasWords({ segments }: Pick<TranscriptDocument, 'segments'>): boolean {
  return segments.some(({ words }) => words.length > 0);
}

/** The text of all segments, without speakers. */
export function transcriptText({ segments, language }: Pick<TranscriptDocument, 'segments' | 'language'>): string {
  return joinTexts(
    segments.map(({ text }) => text),
    language,
  );
}

/** The segments with the names of their speakers. */
export function namedSegments(document: TranscriptDocument): TimedText[] {
  return named(document, document.segments);
}

/** The translation's, or null where it has none. */
export function namedTranslation(document: TranscriptDocument): TimedText[] | null {
  const segments = document.translation?.segments;
  return segments ? named(document, segments) : null;
}

function named(document: TranscriptDocument, segments: readonly TimedText[]): TimedText[] {
  return segments.map(({ startSeconds, endSeconds, text, speaker }) => ({
    ...{ startSeconds, endSeconds, text },
    ...(speaker === undefined ? {} : { speaker: nameOf(document, speaker) }),
  }));
}

/** A line for each turn where it is known who speaks; else the text. */
export function readableText(document: TranscriptDocument): string {
  if (speakerIds(document).length === 0) return transcriptText(document);
  return speakerLines(namedSegments(document), document.language).join('\n');
}
