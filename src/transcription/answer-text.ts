import type { AnswerFormat } from './options.js';
import type { TranscriptionResult } from './result.js';
import { srtOf, vttOf } from './subtitles.js';

export type TextFormat = Exclude<AnswerFormat, 'json'>;

/** What a text or a subtitle file is made of; `segments` are null where only the text was asked for. */
export type Written = Pick<
  TranscriptionResult,
  'language' | 'text' | 'segments' | 'translation' | 'durationSeconds'
>;

/** The text, or subtitles, of the translation where there is one. No line break ends a plain text. */
export function answerText(result: Written, format: TextFormat): string {
  const { language, text, segments } = result.translation ?? result;
  if (format === 'text') return text;
  const subtitled = { language, segments: segments ?? [], durationSeconds: result.durationSeconds };
  return format === 'srt' ? srtOf(subtitled) : vttOf(subtitled);
}
