/** An answer as it is sent: JSON, or the text of a file, with the rest in headers. */
import type { Static } from 'typebox';
import { answerText } from '../../transcription/answer-text.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import type { AnswerFormat } from '../../transcription/options.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { JSON_TYPE } from '../app/exchange.js';
import { TEXT_TYPES } from '../transcripts/text-types.js';
import { resultHeaders } from '../transcripts/transcription-headers.js';
import type { WrittenAnswer } from '../transcripts/transcription-route.js';
import { transcriptionBody } from '../../transcription/transcription-body.js';
import type { Transcription } from './transcription-schema.js';

/** What version 0.1.0 stored was rendered when there was no other format. */
export async function writtenAnswer(answer: TranscriptionAnswer, format: AnswerFormat): Promise<WrittenAnswer> {
  if ('body' in answer) return { type: JSON_TYPE, body: answer.body, headers: {} };
  const { result } = answer;
  if (format === 'json') {
    const body: Static<typeof Transcription> = transcriptionBody(result);
    return { type: JSON_TYPE, body: await jsonBytes(body), headers: {} };
  }
  return { type: TEXT_TYPES[format], body: await answerText(result, format), headers: resultHeaders(result) };
}
