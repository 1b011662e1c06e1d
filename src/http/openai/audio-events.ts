/**
 * A transcript in the events that OpenAI documents, each named in its `event:` line as well, which some clients go by.
 */
import type { Static } from 'typebox';
import type { TranscriptionResult } from '../../transcription/result.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import type { ServerEvent } from '../app/event-stream.js';
import type { TranscriptEvents } from '../transcripts/transcript-stream.js';
import { ignoredHeaders, jsonBody, resultIn } from './audio-answer.js';
import type { OpenAiRequest } from './audio-fields.js';
import type { DiarizedSegment } from './audio-schema.js';
import { diarizedPieces } from './diarized-answer.js';
import type { TranscriptDelta, TranscriptDone } from './event-schema.js';

type Event = Static<typeof TranscriptDelta> | Static<typeof TranscriptDone> | Static<typeof DiarizedSegment>;

export function openAiEvents(request: OpenAiRequest): TranscriptEvents {
  return {
    headers: ignoredHeaders(request),
    delta: (delta) => named(deltaEvent(delta)),
    done: (answer, sentLength) => {
      const done = doneEvent(answer, request);
      return [...rest(resultIn(answer), request, done.text.slice(sentLength)), done].map(named);
    },
  };
}

/** Text that was not sent yet. Speakers are sent at the end only, segment by segment. */
function rest(result: TranscriptionResult, { responseFormat }: OpenAiRequest, text: string): Event[] {
  if (responseFormat !== 'diarized_json') return text === '' ? [] : [deltaEvent(text)];
  return diarizedPieces(result).flatMap(({ piece, segment }) => [
    ...(piece === '' ? [] : [{ ...deltaEvent(piece), segment_id: segment.id }]),
    segment,
  ]);
}

function deltaEvent(delta: string): Static<typeof TranscriptDelta> {
  return { type: 'transcript.text.delta', delta };
}

/** All that the answer in one piece has in its body, and in its headers. */
function doneEvent(answer: TranscriptionAnswer, request: OpenAiRequest): Static<typeof TranscriptDone> {
  const result = resultIn(answer);
  const { id, model, creditsUsed: credits_used, creditsRemaining: credits_remaining } = result;
  const body = jsonBody(result, request);
  const made = model === null ? {} : { model };
  return { type: 'transcript.text.done', ...body, id, ...made, credits_used, credits_remaining };
}

function named(data: Event): ServerEvent {
  return { event: data.type, data };
}
