/** The transcript by speakers, in the shape that OpenAI documents. */
import type { Static } from 'typebox';
import { TextJoiner } from '../../engine/transcript-text.js';
import { speakerLines } from '../../transcription/diarized.js';
import type { TranscriptionResult } from '../../transcription/result.js';
import { inThousandths, type TimedText } from '../../transcription/timed-text.js';
import type { DiarizedSegment, DiarizedTranscription } from './audio-schema.js';

type Segment = Static<typeof DiarizedSegment>;
type Body = Omit<Static<typeof DiarizedTranscription>, 'usage' | 'warnings'>;

export function diarizedBody({ durationSeconds, language, segments }: TranscriptionResult): Body {
  const lettered = withLetters(segments);
  return {
    task: 'transcribe',
    duration: inThousandths(durationSeconds),
    text: speakerLines(lettered, language).join('\n'),
    segments: lettered.map(diarizedSegment),
  };
}

/** Each segment with the piece of text that it adds. Joined, the pieces are the text of diarizedBody(). */
export function diarizedPieces({
  language,
  segments,
}: Pick<TranscriptionResult, 'language' | 'segments'>): { piece: string; segment: Segment }[] {
  let [joiner, before] = [new TextJoiner(language), ''];
  return withLetters(segments).map((lettered, index) => {
    const segment = diarizedSegment(lettered, index);
    const { speaker, text } = segment;
    if (text === '') return { piece: '', segment };
    if (speaker === before) return { piece: joiner.add(text), segment };
    const parting = before === '' ? '' : '\n';
    [joiner, before] = [new TextJoiner(language), speaker];
    return { piece: `${parting}${speaker}: ${joiner.add(text)}`, segment };
  });
}

function withLetters(segments: TranscriptionResult['segments']): (TimedText & { speaker: string })[] {
  return (segments ?? []).map((segment) => ({ ...segment, speaker: letterOf(segment) }));
}

function diarizedSegment(
  { startSeconds: start, endSeconds: end, text, speaker }: TimedText & { speaker: string },
  index: number,
): Segment {
  const id = `seg_${String(index + 1).padStart(3, '0')}`;
  return { type: 'transcript.text.segment', id, start, end, text, speaker };
}

/** S1 is A, S26 is Z, and S27 is AA. */
function letterOf({ speaker = 'S1' }: TimedText): string {
  let left = Number(speaker.slice(1));
  let letters = '';
  for (; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode('A'.charCodeAt(0) + ((left - 1) % 26)) + letters;
  }
  return letters;
}
