/** An answer as it is sent: JSON, or the text of a file, beside which headers tell the rest. */
import { answerText } from '../../transcription/answer-text.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import type { AnswerFormat } from '../../transcription/options.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { JSON_TYPE } from '../exchange.js';
import { TEXT_TYPES } from '../text-types.js';
import { chargeHeaders } from '../transcription-headers.js';
import type { WrittenAnswer } from '../transcription-route.js';
import { transcriptionBody } from './transcription-schema.js';

/** What version 0.1.0 stored was rendered when there was no other format. */
export async function writtenAnswer(
  answer: TranscriptionAnswer,
  format: AnswerFormat,
): Promise<WrittenAnswer> {
  if ('body' in answer) return { type: JSON_TYPE, body: answer.body, headers: {} };
  const { result } = answer;
  if (format === 'json') {
    return { type: JSON_TYPE, body: await jsonBytes(transcriptionBody(result)), headers: {} };
  }
  return { type: TEXT_TYPES[format], body: await answerText(result, format), headers: chargeHeaders(result) };
}
