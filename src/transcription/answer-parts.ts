/** The parts of an answer that a transcript, or a translation with times, is made into: text, segments, words. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Segment } from '../engine/binding.js';
import type { FileToTranscribe, SpeechEngine, Transcript } from '../engine/types.js';
import { describedOf, type DescribedSegment } from './described.js';
import { captionsOf, type Caption, type Captioned } from './captions.js';
import { diarized } from './diarized.js';
import { wantsSegments, wantsWords, type TranscriptionOptions } from './options.js';
import { piecesWithoutPunctuation, withoutPunctuation } from './punctuation.js';
import type { SpeakerTimeline } from './speaker-timeline.js';
import type { TimedText, TimedWord } from './timed-text.js';

/** Captions after which the event loop gets its turn. */
const CAPTIONS_AT_ONCE = 64;

export interface AnswerParts {
  text: string;
  /** null where none were asked for. */
  segments: TimedText[] | null;
  words: TimedWord[] | null;
  /** The model's own segments; null where none were asked for. */
  described: DescribedSegment[] | null;
}

/** Sentences without words, a translation's, do for segments. */
export type TimedTranscript = Pick<Transcript, 'text' | 'language' | 'durationSeconds'> & {
  segments: readonly Captioned[];
};

/** With these the engine recognises all that the answer needs. */
export function decodeOptionsFor(
  options: Pick<TranscriptionOptions, 'timestamps' | 'format' | 'prompt' | 'describe' | 'temperature' | 'diarize'>,
  { info }: Pick<SpeechEngine, 'info'>,
): Pick<FileToTranscribe, 'align' | 'prompt' | 'describe' | 'temperature'> {
  const { describe, temperature } = options;
  const align = info.alignsWords && wantsSegments(options);
  return { align, describe, temperature, prompt: options.prompt ?? undefined };
}

export interface AnswerContext {
  /** The segments that the model made of the audio, where the transcript is or may be a translation of them. */
  recognised?: readonly Segment[];
  /** Who speaks when; null: nobody asked. */
  timeline?: SpeakerTimeline | null;
}

/** A long one is worked on piece by piece: others get their turns. */
export async function answerPartsOf(
  transcript: TimedTranscript,
  options: Pick<TranscriptionOptions, 'punctuate' | 'timestamps' | 'format' | 'describe' | 'diarize'>,
  { recognised = [], timeline = null }: AnswerContext = {},
): Promise<AnswerParts> {
  const { text, language, durationSeconds, segments } = transcript;
  const spokenText = options.punctuate ? text : withoutPunctuation(text, language);
  const described = options.describe ? await describedOf(segments, recognised, durationSeconds) : null;
  if (!wantsSegments(options)) return { text: spokenText, segments: null, words: null, described };
  const speakerOf = timeline === null ? undefined : timeline.speakerOf.bind(timeline);
  const punctuated = await captionsOf(segments, language, durationSeconds, speakerOf);
  const shown = options.punctuate ? punctuated : await plain(punctuated, language);
  const captions = timeline === null ? shown : await diarized(shown, timeline);
  return {
    text: spokenText,
    segments: captions.map(withoutWords),
    words: wantsWords(options) ? captions.flatMap(({ words }) => words) : null,
    described,
  };
}

/** The segments as the model decoded them; without punctuation where the answer has none. */
export function decodedSegmentsOf(
  { segments, language }: Pick<Transcript, 'segments' | 'language'>,
  { punctuate }: Pick<TranscriptionOptions, 'punctuate'>,
): Transcript['segments'] {
  if (punctuate) return segments;
  return segments.map((segment) => ({ ...segment, text: withoutPunctuation(segment.text, language) }));
}

function withoutWords({ startSeconds, endSeconds, text, speaker }: Caption): TimedText {
  return { startSeconds, endSeconds, text, ...(speaker === undefined ? {} : { speaker }) };
}

/** Captions and words that are empty without punctuation are left out. */
async function plain(captions: readonly Caption[], language: string): Promise<Caption[]> {
  const bare: Caption[] = [];
  for (const [index, caption] of captions.entries()) {
    if (index % CAPTIONS_AT_ONCE === CAPTIONS_AT_ONCE - 1) await nextTurn();
    const { text } = caption;
    const left = withoutPunctuation(text, language);
    if (left !== '') bare.push({ ...caption, text: left, words: plainWords(caption, language) });
  }
  return bare;
}

function plainWords({ text, words }: Caption, language: string): TimedWord[] {
  let end = 0;
  const pieces = words.map((word) => {
    const start = end;
    end = text.indexOf(word.text, start) + word.text.length;
    return text.slice(start, end);
  });
  const bare = piecesWithoutPunctuation(pieces, language);
  return words.flatMap((word, index) => (bare[index] ? [{ ...word, text: bare[index] }] : []));
}
