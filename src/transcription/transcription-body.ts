/** A transcription in the words of the contract: answers have it, and the messages that a job has ended. */
import type { TranscriptionResult, Translation } from './result.js';
import { inThousandths, type TimedText, type TimedWord } from './timed-text.js';
import type { Warning } from './warnings.js';

interface SegmentBody {
  start: number;
  end: number;
  text: string;
  speaker?: string;
}

interface WordBody {
  word: string;
  start: number;
  end: number;
  probability: number;
  speaker?: string;
}

interface TranslationBody {
  language: string;
  text: string;
  segments?: SegmentBody[];
}

export interface TranscriptionBody {
  id: string;
  duration_sec: number;
  language: string;
  text: string;
  segments?: SegmentBody[];
  words?: WordBody[];
  translation?: TranslationBody;
  warnings?: Warning[];
  credits_used: number;
  credits_remaining: number;
}

export function transcriptionBody(result: TranscriptionResult): TranscriptionBody {
  const { segments, words, translation, warnings } = result;
  return {
    id: result.id,
    duration_sec: inThousandths(result.durationSeconds),
    language: result.language,
    text: result.text,
    ...(segments === null ? {} : { segments: segments.map(segmentBody) }),
    ...(words === null ? {} : { words: words.map(wordBody) }),
    ...(translation === null ? {} : { translation: translationBody(translation) }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    credits_used: result.creditsUsed,
    credits_remaining: result.creditsRemaining,
  };
}

function translationBody({ language, text, segments }: Translation): TranslationBody {
  return { language, text, ...(segments === null ? {} : { segments: segments.map(segmentBody) }) };
}

function segmentBody({ startSeconds: start, endSeconds: end, text, speaker }: TimedText): SegmentBody {
  return { start, end, text, ...(speaker === undefined ? {} : { speaker }) };
}

function wordBody({ startSeconds: start, endSeconds: end, text: word, probability, speaker }: TimedWord): WordBody {
  return { word, start, end, probability, ...(speaker === undefined ? {} : { speaker }) };
}
