/** What an answer says of a transcript, or of a translation with times: as a whole, in segments and in words. */
import type { Transcript } from '../engine/types.js';
import { captionsOf, type Caption, type Captioned } from './captions.js';
import { wantsSegments, wantsWords, type TranscriptionOptions } from './options.js';
import { piecesWithoutPunctuation, withoutPunctuation } from './punctuation.js';
import type { TimedText, TimedWord } from './timed-text.js';

export interface Spoken {
  text: string;
  /** null where none were asked for. */
  segments: TimedText[] | null;
  words: TimedWord[] | null;
}

/** Sentences without words, a translation's, do for segments. */
export type TimedTranscript = Pick<Transcript, 'text' | 'language' | 'durationSeconds'> & {
  segments: readonly Captioned[];
};

export function spokenOf(
  { text, language, durationSeconds, segments }: TimedTranscript,
  options: Pick<TranscriptionOptions, 'punctuate' | 'timestamps' | 'format'>,
): Spoken {
  const { punctuate } = options;
  const said = punctuate ? text : withoutPunctuation(text, language);
  if (!wantsSegments(options)) return { text: said, segments: null, words: null };
  const punctuated = captionsOf(segments, language, durationSeconds);
  const captions = punctuate
    ? punctuated
    : punctuated.map((caption) => plain(caption, language)).filter((caption) => caption.text !== '');
  return {
    text: said,
    segments: captions.map(({ startSeconds, endSeconds, text }) => ({ startSeconds, endSeconds, text })),
    words: wantsWords(options) ? captions.flatMap(({ words }) => words) : null,
  };
}

/** Words of which nothing is left are gone. */
function plain(caption: Caption, language: string): Caption {
  const { text, words } = caption;
  let end = 0;
  const pieces = words.map((word) => {
    const start = end;
    end = text.indexOf(word.text, start) + word.text.length;
    return text.slice(start, end);
  });
  const bare = piecesWithoutPunctuation(pieces, language);
  return {
    ...caption,
    text: withoutPunctuation(text, language),
    words: words.flatMap((word, index) => (bare[index] ? [{ ...word, text: bare[index] }] : [])),
  };
}
