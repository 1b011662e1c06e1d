import { speakerLines } from './diarized.js';
import type { AnswerFormat } from './options.js';
import type { TranscriptionResult } from './result.js';
import { srtOf, vttOf } from './subtitles.js';

export type TextFormat = Exclude<AnswerFormat, 'json'>;

/** What a text or a subtitle file is made of; `segments` are null where only the text was asked for, without speakers. */
export type Written = Pick<
  TranscriptionResult,
  'language' | 'text' | 'segments' | 'translation' | 'durationSeconds'
>;

/**
 * The text, or subtitles, of the translation where there is one. Where it is known who speaks, a text has a line for each turn; no line
 * break ends it.
 */
export function answerText(result: Written, format: TextFormat): string {
  const { language, text, segments } = result.translation ?? result;
  const isDiarized = segments?.some(({ speaker }) => speaker !== undefined) === true;
  if (format === 'text') return isDiarized ? speakerLines(segments, language).join('\n') : text;
  const subtitled = { language, segments: segments ?? [], durationSeconds: result.durationSeconds };
  return format === 'srt' ? srtOf(subtitled) : vttOf(subtitled);
}
