import type { TextFormat } from '../../transcription/answer-text.js';

export const TEXT_TYPES: Readonly<Record<TextFormat, string>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};
