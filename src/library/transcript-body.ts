/** A kept transcript in the words of the contract. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredTranscript } from '../ledger/transcripts.js';
import { inThousandths, type TimedText } from '../transcription/timed-text.js';
import { nameOf, speakerIds, transcriptText, type KeptSegment, type TranscriptDocument } from './document.js';

interface SpanBody {
  start: number;
  end: number;
}

interface SegmentBody extends SpanBody {
  text: string;
  speaker?: string;
}

interface WordBody extends SpanBody {
  word: string;
  probability: number;
  speaker?: string;
}

interface TranslationBody {
  language: string;
  text: string;
  segments?: SegmentBody[];
}

export interface TranscriptRowBody {
  id: string;
  title: string;
  created_at: string;
  expires_at: string | null;
  duration_sec: number;
  language: string;
  /** As shown. */
  speakers: string[];
  model: string | null;
  source: { kind: StoredTranscript['source']['kind']; name: string | null };
}

export interface TranscriptBody extends TranscriptRowBody {
  /** Names by S1, S2, … */
  speaker_names: Record<string, string>;
  text: string;
  segments: SegmentBody[];
  words: WordBody[];
  translation?: TranslationBody;
  notes: { id: string; at: number; text: string }[];
  version: number;
  audio: boolean;
}

/** Segments after which the event loop gets its turn. */
const SEGMENTS_AT_ONCE = 256;

export function transcriptRowBody(stored: StoredTranscript): TranscriptRowBody {
  return {
    ...{ id: stored.id, title: stored.title, created_at: stored.createdAt, expires_at: stored.expiresAt },
    ...{ duration_sec: inThousandths(stored.durationSeconds), language: stored.language },
    ...{ speakers: [...stored.speakers], model: stored.model, source: { ...stored.source } },
  };
}

export async function transcriptBody(stored: StoredTranscript, document: TranscriptDocument): Promise<TranscriptBody> {
  const { translation, notes } = document;
  const words: WordBody[] = [];
  for (const [index, segment] of document.segments.entries()) {
    if (index % SEGMENTS_AT_ONCE === SEGMENTS_AT_ONCE - 1) await nextTurn();
    words.push(...wordBodies(segment));
  }
  return {
    ...transcriptRowBody(stored),
    speaker_names: Object.fromEntries(speakerIds(document).map((speaker) => [speaker, nameOf(document, speaker)])),
    ...{ text: transcriptText(document), segments: document.segments.map(segmentBody), words },
    ...(translation === null ? {} : { translation: translationBody(translation) }),
    notes: notes.map(({ id, atSeconds: at, text }) => ({ id, at, text })),
    ...{ version: stored.version, audio: stored.audioBytes > 0 },
  };
}

function translationBody(translation: NonNullable<TranscriptDocument['translation']>): TranslationBody {
  const { language, text, segments } = translation;
  return { language, text, ...(segments === null ? {} : { segments: segments.map(segmentBody) }) };
}

function segmentBody({ startSeconds: start, endSeconds: end, text, speaker }: TimedText): SegmentBody {
  return { start, end, text, ...(speaker === undefined ? {} : { speaker }) };
}

function wordBodies({ words, speaker }: KeptSegment): WordBody[] {
  return words.map(({ startSeconds: start, endSeconds: end, text: word, probability }) => {
    return { word, start, end, probability, ...(speaker === undefined ? {} : { speaker }) };
  });
}
