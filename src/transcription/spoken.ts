/** What an answer says of a transcript, or of a translation with times: as a whole, in segments and in words. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Segment } from '../engine/binding.js';
import type { FileToTranscribe, SpeechEngine, Transcript } from '../engine/types.js';
import { describedOf, type DescribedSegment } from './described.js';
import { captionsOf, type Caption, type Captioned } from './captions.js';
import { wantsSegments, wantsWords, type TranscriptionOptions } from './options.js';
import { piecesWithoutPunctuation, withoutPunctuation } from './punctuation.js';
import type { TimedText, TimedWord } from './timed-text.js';

/** Captions after which the event loop gets its turn. */
const CAPTIONS_AT_ONCE = 64;

export interface Spoken {
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

/** What the engine is asked for, for the answer to say what was asked for. */
export function howToHear(
  options: Pick<TranscriptionOptions, 'timestamps' | 'format' | 'prompt' | 'describe' | 'temperature'>,
  engine: Pick<SpeechEngine, 'alignsWords'>,
): Pick<FileToTranscribe, 'align' | 'prompt' | 'describe' | 'temperature'> {
  const { describe, temperature } = options;
  const align = engine.alignsWords && wantsSegments(options);
  return { align, describe, temperature, prompt: options.prompt ?? undefined };
}

/**
 * A long one is worked on piece by piece: others get their turns. `heard`: the segments that the model made of the audio, where
 * the transcript's own are of what became of them.
 */
export async function spokenOf(
  transcript: TimedTranscript,
  options: Pick<TranscriptionOptions, 'punctuate' | 'timestamps' | 'format' | 'describe'>,
  heard: readonly Segment[] = [],
): Promise<Spoken> {
  const { text, language, durationSeconds, segments } = transcript;
  const said = options.punctuate ? text : withoutPunctuation(text, language);
  const described = options.describe ? await describedOf(segments, heard, durationSeconds) : null;
  if (!wantsSegments(options)) return { text: said, segments: null, words: null, described };
  const punctuated = await captionsOf(segments, language, durationSeconds);
  const captions = options.punctuate ? punctuated : await plain(punctuated, language);
  return {
    text: said,
    segments: captions.map(({ startSeconds, endSeconds, text }) => ({ startSeconds, endSeconds, text })),
    words: wantsWords(options) ? captions.flatMap(({ words }) => words) : null,
    described,
  };
}

/** Captions and words of which nothing is left are gone. */
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
