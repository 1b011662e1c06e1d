/** Who said what, in the shape that OpenAI documents. */
import type { Static } from 'typebox';
import { speakerLines } from '../../transcription/diarized.js';
import type { TranscriptionResult } from '../../transcription/result.js';
import { inThousandths, type TimedText } from '../../transcription/timed-text.js';
import type { DiarizedSegment, DiarizedTranscription } from './audio-schema.js';

type Body = Omit<Static<typeof DiarizedTranscription>, 'usage' | 'warnings'>;

export function diarizedBody({ durationSeconds, language, segments }: TranscriptionResult): Body {
  const lettered = (segments ?? []).map((segment) => ({ ...segment, speaker: letterOf(segment) }));
  return {
    task: 'transcribe',
    duration: inThousandths(durationSeconds),
    text: speakerLines(lettered, language).join('\n'),
    segments: lettered.map(diarizedSegment),
  };
}

function diarizedSegment(
  { startSeconds: start, endSeconds: end, text, speaker }: TimedText & { speaker: string },
  index: number,
): Static<typeof DiarizedSegment> {
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
