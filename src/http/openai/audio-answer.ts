/** A transcript in the shapes that OpenAI documents. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import { answerText } from '../../transcription/answer-text.js';
import type { DescribedSegment } from '../../transcription/described.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import type { TranscriptionResult } from '../../transcription/result.js';
import { inThousandths, type TimedWord } from '../../transcription/timed-text.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { JSON_TYPE } from '../app/exchange.js';
import { headerOf } from '../schema/headers.js';
import { IgnoredFields, resultHeaders } from '../transcripts/transcription-headers.js';
import type { WrittenAnswer } from '../transcripts/transcription-route.js';
import { TEXT_TYPES } from '../transcripts/text-types.js';
import type { OpenAiRequest } from './audio-fields.js';
import type { OpenAiSegment, OpenAiTranscription, OpenAiWord, VerboseTranscription } from './audio-schema.js';
import { diarizedBody } from './diarized-answer.js';
import { englishName } from './language-names.js';

export async function openAiAnswer(answer: TranscriptionAnswer, request: OpenAiRequest): Promise<WrittenAnswer> {
  const result = resultIn(answer);
  const headers = { ...resultHeaders(result), ...ignoredHeaders(request) };
  const { format } = request.options;
  if (format === 'json') {
    return { type: JSON_TYPE, body: await jsonBytes(jsonBody(result, request)), headers };
  }
  // OpenAI's text ends with a line break, as a file does.
  const body = (await answerText(result, format)) + (format === 'text' ? '\n' : '');
  return { type: TEXT_TYPES[format], body, headers };
}

export function resultIn(answer: TranscriptionAnswer): TranscriptionResult {
  if ('body' in answer) throw new Error('No answer of these endpoints was ever stored as a body.');
  return answer.result;
}

export function ignoredHeaders({ ignored }: OpenAiRequest): OutgoingHttpHeaders {
  return ignored.length === 0 ? {} : headerOf(IgnoredFields, ignored.join(', '));
}

export function jsonBody(result: TranscriptionResult, request: OpenAiRequest): Static<typeof OpenAiTranscription> {
  switch (request.responseFormat) {
    case 'verbose_json':
      return verbose(result, request);
    case 'diarized_json':
      return { ...diarizedBody(result), usage: usageOf(result), ...warningsMember(result) };
    default:
      return plain(result);
  }
}

function plain(result: TranscriptionResult) {
  const { text } = result.translation ?? result;
  return { text, usage: usageOf(result), ...warningsMember(result) };
}

function verbose(
  result: TranscriptionResult,
  { granularities, options }: OpenAiRequest,
): Static<typeof VerboseTranscription> {
  const { language, text, described } = result.translation ?? result;
  const words = granularities.includes('word') ? result.words : null;
  return {
    task: options.translateTo === null ? 'transcribe' : 'translate',
    language: englishName(language),
    duration: inThousandths(result.durationSeconds),
    text,
    ...(words === null ? {} : { words: words.flatMap(wordOf) }),
    ...(described === null ? {} : { segments: described.map(segmentOf) }),
    usage: usageOf(result),
    ...warningsMember(result),
  };
}

function warningsMember({ warnings }: TranscriptionResult): Pick<TranscriptionResult, 'warnings'> | object {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

function usageOf({ durationSeconds }: TranscriptionResult): { type: 'duration'; seconds: number } {
  return { type: 'duration', seconds: Math.ceil(durationSeconds) };
}

/** Hundredths of a second, as Whisper counts. */
const seekOf = (seconds: number): number => Math.round(seconds * 100);

function segmentOf(segment: DescribedSegment, id: number): Static<typeof OpenAiSegment> {
  const { windowStartSeconds, startSeconds: start, endSeconds: end, text, tokens, temperature } = segment;
  return {
    ...{ id, seek: seekOf(windowStartSeconds), start, end, text, tokens: [...tokens] },
    temperature: inThousandths(temperature),
    avg_logprob: segment.averageLogProbability,
    compression_ratio: segment.compressionRatio,
    no_speech_prob: segment.noSpeechProbability,
  };
}

/** Without the marks around it; a dash by itself is none. */
function wordOf({ text, startSeconds: start, endSeconds: end }: TimedWord): Static<typeof OpenAiWord>[] {
  const word = text.trim().replace(/^\p{P}+|\p{P}+$/gu, '');
  return word === '' ? [] : [{ word, start, end }];
}
