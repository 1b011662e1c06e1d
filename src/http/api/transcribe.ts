/** POST /transcribe. */
import type { HttpDeps } from '../app/deps.js';
import { readIdempotencyKey } from '../app/idempotency-key.js';
import type { Route } from '../app/route.js';
import { transcriptionRoute, type Dialect } from '../transcripts/transcription-route.js';
import { parseKeep, parseOptions, TEXT_FIELDS } from './transcribe-fields.js';
import { writtenAnswer } from './written-answer.js';

const DIALECT: Dialect = {
  path: '/api/v1/transcribe',
  form: { fileField: 'audio', textFields: TEXT_FIELDS },
  asked: (fields) => {
    const options = parseOptions(fields.one);
    return { options, keep: parseKeep(fields.one), written: (answer) => writtenAnswer(answer, options.format) };
  },
  idempotencyKey: readIdempotencyKey,
};

export function transcribeRoutes(deps: HttpDeps): Route[] {
  return [transcriptionRoute(deps, DIALECT)];
}
