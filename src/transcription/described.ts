/**
 * The model's own segments, and how each was decoded: beside the text that readers see, figures that show how far to
 * trust it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import type { Segment } from '../engine/binding.js';
import type { Captioned } from './captions.js';
import { RisingClock } from './timed-text.js';

/** Texts that are compressed before the event loop gets its turn: a millisecond or so. */
const TEXTS_AT_ONCE = 16;

export type DescribedSegment = {
  startSeconds: number;
  endSeconds: number;
  /** With the space before it, as in the model's text. */
  text: string;
  /** Where the window begins in which it was recognised. */
  windowStartSeconds: number;
  /** Ids of its text and time stamps; none where a translation model wrote the text. */
  tokens: number[];
  temperature: number;
  averageLogProbability: number;
  noSpeechProbability: number;
  /** Bytes of the text in UTF-8, to those that zlib makes of them: high where a text repeats itself. */
  compressionRatio: number;
};

/**
 * In order, without overlap. A text that is not the model's own (a caption, a translation) belongs to the segment of
 * `recognised` in which it begins, and takes that segment's figures. `recognised` is in order, and not empty unless
 * `texts` is.
 */
export async function describedOf(
  texts: readonly (Captioned & Partial<Segment>)[],
  recognised: readonly Segment[],
  durationSeconds: number,
): Promise<DescribedSegment[]> {
  const described: DescribedSegment[] = [];
  const clock = new RisingClock(durationSeconds);
  let source = 0;
  for (const [index, text] of texts.entries()) {
    if (index % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) await nextTurn();
    while ((recognised[source + 1]?.startSeconds ?? Infinity) <= text.startSeconds) source++;
    const startSeconds = clock.at(text.startSeconds);
    const endSeconds = clock.at(text.endSeconds);
    described.push({ startSeconds, endSeconds, ...descriptionOf(text, recognised[source]) });
  }
  return described;
}

function descriptionOf(
  text: Captioned & Partial<Segment>,
  source: Segment | undefined,
): Omit<DescribedSegment, 'startSeconds' | 'endSeconds'> {
  const decoding = text.decoding ?? source?.decoding;
  return {
    text: text.text,
    windowStartSeconds: decoding?.windowStartSeconds ?? 0,
    tokens: text.decoding?.tokens ?? [],
    temperature: decoding?.temperature ?? 0,
    averageLogProbability: decoding?.averageLogProbability ?? 0,
    noSpeechProbability: text.noSpeechProbability ?? source?.noSpeechProbability ?? 0,
    compressionRatio: compressionRatio(text.text),
  };
}

export function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}
