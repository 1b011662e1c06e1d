/** POST /v1/audio/transcriptions and POST /v1/audio/translations: OpenAI's words for what /api/v1/transcribe does. */
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import type { HttpDeps } from '../app/deps.js';
import { readIdempotencyKey } from '../app/idempotency-key.js';
import type { Route } from '../app/route.js';
import { transcriptionRoute, type Dialect } from '../transcripts/transcription-route.js';
import type { FormRules } from '../upload/upload.js';
import { openAiAnswer } from './audio-answer.js';
import { openAiEvents } from './audio-events.js';
import { askedTranscription, askedTranslation, TRANSCRIPTION_FORM, TRANSLATION_FORM } from './audio-fields.js';
import { isRetry } from './retry-count.js';

export function openAiAudioRoutes(deps: HttpDeps): Route[] {
  const dialect = (path: string, form: FormRules, read: typeof askedTranscription): Dialect => ({
    ...{ path, form },
    asked: (fields) => {
      const request = read(fields, deps);
      return {
        options: request.options,
        ...(request.stream
          ? { events: openAiEvents(request) }
          : { written: (answer: TranscriptionAnswer) => openAiAnswer(answer, request) }),
      };
    },
    idempotencyKey: readIdempotencyKey,
    isRetry,
  });
  return [
    transcriptionRoute(deps, dialect('/v1/audio/transcriptions', TRANSCRIPTION_FORM, askedTranscription)),
    transcriptionRoute(deps, dialect('/v1/audio/translations', TRANSLATION_FORM, askedTranslation)),
  ];
}
