/** An answer as it is sent: JSON, or the text of a file, beside which headers tell the rest. */
import type { OutgoingHttpHeaders } from 'node:http';
import { answerText, type TextFormat } from '../../transcription/answer-text.js';
import type { AnswerFormat } from '../../transcription/options.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { JSON_TYPE } from '../exchange.js';
import { headerOf } from '../headers.js';
import { CreditsRemaining, CreditsUsed, transcriptionBody, TranscriptionId } from './transcription-schema.js';

export interface WrittenAnswer {
  type: string;
  body: string;
  headers: OutgoingHttpHeaders;
}

const TEXT_TYPES: Readonly<Record<TextFormat, string>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

/** What version 0.1.0 stored was rendered when there was no other format. */
export function writtenAnswer(answer: TranscriptionAnswer, format: AnswerFormat): WrittenAnswer {
  if ('body' in answer) return { type: JSON_TYPE, body: answer.body, headers: {} };
  const { result } = answer;
  if (format === 'json') {
    return { type: JSON_TYPE, body: JSON.stringify(transcriptionBody(result)), headers: {} };
  }
  const headers = {
    ...headerOf(TranscriptionId, result.id),
    ...headerOf(CreditsUsed, result.creditsUsed),
    ...headerOf(CreditsRemaining, result.creditsRemaining),
  };
  return { type: TEXT_TYPES[format], body: answerText(result, format), headers };
}
