/** The times of the sentences of a transcript, for their translations. */
import type { TranslatedSentence } from '../engine/types.js';
import type { Captioned } from './captions.js';

/** A text with a time: a word, or a whole segment where no words were aligned. */
interface Piece {
  startSeconds: number;
  endSeconds: number;
  /** Its letters are those of the transcript from `first` up to `end`. */
  first: number;
  end: number;
}

/** The text that was translated. */
interface Source {
  text: string;
  segments: readonly Captioned[];
}

/**
 * Each translated sentence with the time of its source: from the start of its first word to the end of its last one. Of
 * a segment without words every letter takes as long.
 */
export function timedSentences(sentences: readonly TranslatedSentence[], source: Source): Captioned[] {
  return sentences.map(sentenceTimer(source));
}

/** The same of sentences that come one by one, in order. */
export function sentenceTimer({ text, segments }: Source): (sentence: TranslatedSentence) => Captioned {
  const pieces = piecesOf(segments);
  let at = 0;
  let letters = 0;
  const lettersUpTo = (index: number): number => {
    letters += lettersIn(text.slice(at, index));
    at = index;
    return letters;
  };
  let piece = 0;
  const pieceOf = (letter: number): Piece | undefined => {
    while (piece < pieces.length - 1 && (pieces[piece]?.end ?? 0) <= letter) piece++;
    return pieces[piece];
  };
  return (sentence) => {
    const first = lettersUpTo(sentence.start);
    const startSeconds = timeAt(first, pieceOf(first));
    const end = lettersUpTo(sentence.end);
    return { startSeconds, endSeconds: timeAt(end, pieceOf(end - 1)), text: sentence.text };
  };
}

function piecesOf(segments: Source['segments']): Piece[] {
  let end = 0;
  return segments
    .flatMap((segment): Captioned[] => segment.words ?? [segment])
    .map(({ startSeconds, endSeconds, text }) => {
      const first = end;
      end += lettersIn(text);
      return { startSeconds, endSeconds, first, end };
    })
    .filter((piece) => piece.end > piece.first);
}

/** White space differs between a transcript and its segments. */
export function lettersIn(text: string): number {
  return text.replace(/\s+/gu, '').length;
}

function timeAt(letter: number, piece: Piece | undefined): number {
  if (piece === undefined) return 0;
  const { startSeconds, endSeconds, first, end } = piece;
  const share = Math.min(1, Math.max(0, (letter - first) / (end - first)));
  return startSeconds + share * (endSeconds - startSeconds);
}
