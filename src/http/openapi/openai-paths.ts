/** The endpoints that OpenAI's clients know, as path items of the document. */
import { VerbatimError, type ErrorCode } from '../../errors.js';
import { ERROR_HEADERS, ERROR_TABLE, errorsOf } from '../errors/error-table.js';
import { RequestId } from '../schema/headers.js';
import { IdempotencyKey } from '../app/idempotency-key.js';
import { openAiErrorBody, openAiRow, ShouldRetry } from '../openai/errors.js';
import { ModelName } from '../openai/models.js';
import { RetryCount } from '../openai/retry-count.js';
import { IgnoredFields, TRANSCRIPT_HEADERS } from '../transcripts/transcription-headers.js';
import { examples, textExamples } from './examples.js';
import { headerRefs, parameterRefs } from './references.js';

type Json = Record<string, unknown>;

const TAG = 'openai';

const content = (type: string, schema: string): Json => ({
  [type]: { schema: { $ref: `#/components/schemas/${schema}` }, examples: examples[schema] },
});

/** By the statuses that OpenAI's clients expect. */
export function openAiErrors(operation: string): Record<string, Json> {
  const codes = errorsOf(operation, ['http', 'token', 'key']);
  const statuses = [...new Set(codes.map((code) => openAiRow(code).status))].sort();
  return Object.fromEntries(
    statuses.map((status) => [status, errorResponse(codes.filter((code) => openAiRow(code).status === status))]),
  );
}

function errorResponse(codes: readonly ErrorCode[]): Json {
  const own = codes.map((code) => ERROR_HEADERS[ERROR_TABLE[code].status]).filter((header) => header !== undefined);
  // Of a status that has one for some of its codes only it is no promise.
  const sent = codes.every((code) => ERROR_HEADERS[ERROR_TABLE[code].status] !== undefined) ? own : [];
  return {
    description: codes.map((code) => `\`${openAiRow(code).code}\`: ${ERROR_TABLE[code].meaning}`).join('\n\n'),
    headers: headerRefs(RequestId, ShouldRetry, ...new Set(sent)),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/OpenAiError' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }])),
      },
    },
  };
}

function errorExample(code: ErrorCode): object {
  const { message, param } = ERROR_TABLE[code];
  return openAiErrorBody(new VerbatimError(code, message, param === undefined ? {} : { param }));
}

const transcript: Json = {
  description:
    'The transcript, as `response_format` says; with `stream` events, each an `event:` line with its type ' +
    'and a `data:` line with ' +
    'its JSON, and comments while there is nothing to say. An error after the first of them is the last event, ' +
    '`error`.',
  headers: headerRefs(RequestId, ...TRANSCRIPT_HEADERS, IgnoredFields),
  content: {
    ...content('application/json', 'OpenAiTranscription'),
    ...content('text/event-stream', 'OpenAiEvent'),
    ...Object.fromEntries(
      Object.entries(textExamples).map(([type, example]) => [type, { schema: { type: 'string' }, example }]),
    ),
  },
};

const audioOperation = (operationId: string, summary: string, request: string): Json => ({
  ...{ tags: [TAG], operationId, summary },
  description:
    'Shares keys, credits, limits and fair turns with POST /api/v1/transcribe. Lists may be sent with [] ' +
    'behind their names or ' +
    'without; fields that are not listed are ignored.',
  parameters: parameterRefs(IdempotencyKey, RetryCount),
  requestBody: { required: true, content: content('multipart/form-data', request) },
  responses: { '200': transcript, ...openAiErrors(operationId) },
});

const modelOperation = (operationId: string, summary: string, schema: string, description: string): Json => ({
  ...{ tags: [TAG], operationId, summary },
  responses: {
    '200': {
      description,
      headers: headerRefs(RequestId),
      content: content('application/json', schema),
    },
    ...openAiErrors(operationId),
  },
});

/** Without the parameters that every path has. */
export const openAiItems: Readonly<Record<string, { item: Json; parameters: (typeof ModelName)[] }>> = {
  '/v1/audio/transcriptions': {
    item: {
      post: audioOperation('createTranscription', "Transcribe, with OpenAI's fields", 'CreateTranscriptionRequest'),
    },
    parameters: [],
  },
  '/v1/audio/translations': {
    item: {
      post: audioOperation(
        'createTranslation',
        "Translate into English, with OpenAI's fields",
        'CreateTranslationRequest',
      ),
    },
    parameters: [],
  },
  '/v1/models': {
    item: {
      get: modelOperation('listModels', 'The installed speech models', 'OpenAiModelList', 'The default model first.'),
    },
    parameters: [],
  },
  '/v1/models/{model}': {
    item: { get: modelOperation('retrieveModel', 'A speech model, by its name', 'OpenAiModel', 'The model.') },
    parameters: [ModelName],
  },
};
