/** The document of a transcript that was just made. */
import type { TranscriptionResult } from '../transcription/result.js';
import type { TimedText, TimedWord } from '../transcription/timed-text.js';
import type { KeptSegment, TranscriptDocument } from './document.js';

export type FreshTranscript = Pick<
  TranscriptionResult,
  'durationSeconds' | 'language' | 'text' | 'segments' | 'words' | 'translation'
>;

export function newDocument(fresh: FreshTranscript): TranscriptDocument {
  const { durationSeconds, language, text, segments, words, translation } = fresh;
  return {
    ...{ durationSeconds, language },
    segments: withWords(segments ?? wholeFile({ durationSeconds, text }), words ?? []),
    names: {},
    translation: translation && {
      ...{ language: translation.language, text: translation.text },
      segments: translation.segments,
    },
    notes: [],
  };
}

/** Of an answer without times: all of it is one segment. */
function wholeFile({ durationSeconds, text }: Pick<FreshTranscript, 'durationSeconds' | 'text'>): TimedText[] {
  const endSeconds = Math.round(durationSeconds * 1000) / 1000;
  return text === '' ? [] : [{ startSeconds: 0, endSeconds, text }];
}

/** Words come in the order of their segments. A segment has none where its words were not aligned. */
function withWords(segments: readonly TimedText[], words: readonly TimedWord[]): KeptSegment[] {
  let next = 0;
  return segments.map(({ startSeconds, endSeconds, text, speaker }) => {
    const own: TimedWord[] = [];
    for (let at = 0; next < words.length; next++) {
      const word = words[next];
      const start = text.slice(at).search(/\S/u);
      if (word === undefined || start === -1 || !text.startsWith(word.text, at + start)) break;
      if (word.startSeconds < startSeconds || word.endSeconds > endSeconds) break;
      at += start + word.text.length;
      const { startSeconds: from, endSeconds: to, probability } = word;
      own.push({ startSeconds: from, endSeconds: to, text: word.text, probability });
    }
    return { startSeconds, endSeconds, text, ...(speaker === undefined ? {} : { speaker }), words: own };
  });
}
