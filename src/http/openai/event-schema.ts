/** The events of an answer with `stream`. */
import { Type } from 'typebox';
import { creditsRemaining, creditsUsed, transcriptId } from '../transcripts/transcription-headers.js';
import { shape } from '../schema/shape.js';
import { DiarizedSegment, DiarizedTranscription, PlainTranscription, VerboseTranscription } from './audio-schema.js';
import { OpenAiErrorBody } from './errors.js';

const typed = <T extends string>(type: T) => Type.Unsafe<T>({ type: 'string', const: type, examples: [type] });

export const TranscriptDelta = shape({
  type: typed('transcript.text.delta'),
  delta: Type.String({
    description: 'The next piece of `text`, with the space before it. All pieces joined are `text`.',
    examples: ['Hoy es domingo, '],
  }),
  segment_id: Type.Optional(
    Type.String({ description: 'With diarized_json: the speaker of the text.', examples: ['seg_001'] }),
  ),
});

const beside = {
  type: typed('transcript.text.done'),
  id: transcriptId,
  model: Type.Optional(
    Type.String({ description: 'The speech model that made the answer, as in `X-Model`.', examples: ['base'] }),
  ),
  credits_used: creditsUsed,
  credits_remaining: creditsRemaining,
};

/** The last one. */
export const TranscriptDone = Type.Union([
  shape({ ...beside, ...PlainTranscription.properties }),
  shape({ ...beside, ...VerboseTranscription.properties }),
  shape({ ...beside, ...DiarizedTranscription.properties }),
]);

export const OpenAiEvent = Type.Union([TranscriptDelta, DiarizedSegment, TranscriptDone, OpenAiErrorBody]);
