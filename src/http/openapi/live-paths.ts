/** Deepgram's endpoints, and those beside live sessions, whose own messages no OpenAPI document describes. */
import { VerbatimError, type ErrorCode } from '../../errors.js';
import { IdempotencyKey } from '../app/idempotency-key.js';
import { listenError } from '../deepgram/errors.js';
import { LISTEN_PARAMETERS } from '../deepgram/file-schema.js';
import { ERROR_HEADERS, ERROR_TABLE, errorsOf } from '../errors/error-table.js';
import { RequestId } from '../schema/headers.js';
import { IgnoredFields, TRANSCRIPT_HEADERS } from '../transcripts/transcription-headers.js';
import { openAiErrors } from './openai-paths.js';
import { answer, BEHIND_KEY, content, path } from './path-items.js';
import { headerRefs, parameterRefs } from './references.js';

type Json = Record<string, unknown>;

const REQUEST_ID = 'req_4f1d7c2e-8a53-4b8e-9a0f-2f6d1c7b9e10';

/** By their statuses. */
function deepgramErrors(operation: string): Record<string, Json> {
  const rows = errorsOf(operation, BEHIND_KEY).map((code) => ({ code, ...deepgramRow(code) }));
  const statuses = [...new Set(rows.map(({ status }) => status))].sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const own = rows.filter((row) => row.status === status);
      const header = ERROR_HEADERS[status];
      const examples = Object.fromEntries(own.map(({ code, body }) => [code, { value: body }]));
      const response = {
        description: own.map(({ body, code }) => `\`${body.err_code}\`: ${ERROR_TABLE[code].meaning}`).join('\n\n'),
        headers: headerRefs(RequestId, ...(header === undefined ? [] : [header])),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/DeepgramError' }, examples } },
      };
      return [status, response];
    }),
  );
}

function deepgramRow(code: ErrorCode): ReturnType<typeof listenError> {
  return listenError(new VerbatimError(code, ERROR_TABLE[code].message), REQUEST_ID);
}

const optionalBody = (schema: string): Json => ({ required: false, content: content('application/json', schema) });
const KEY = 'It opens WebSockets only, and ends with the API key that made it. A session that was opened outlives it.';

export const livePaths: Json = {
  '/v1/realtime/client_secrets': path({
    post: {
      ...{ tags: ['openai'], operationId: 'createClientSecret', summary: 'An ephemeral key for a live session' },
      description: KEY,
      requestBody: optionalBody('ClientSecretRequest'),
      responses: { '200': answer('ClientSecret', 'The key.'), ...openAiErrors('createClientSecret') },
    },
  }),
  '/v1/realtime/translations/client_secrets': path({
    post: {
      ...{ tags: ['openai'], operationId: 'createTranslationSecret' },
      summary: 'An ephemeral key for a live translation',
      description: KEY,
      requestBody: optionalBody('TranslationSecretRequest'),
      responses: { '200': answer('TranslationSecret', 'The key.'), ...openAiErrors('createTranslationSecret') },
    },
  }),
  '/v1/realtime/transcription_sessions': path({
    post: {
      ...{ tags: ['openai'], operationId: 'createTranscriptionSession' },
      summary: 'An ephemeral key, as the beta of the Realtime API made it',
      description: KEY,
      requestBody: optionalBody('TranscriptionSessionRequest'),
      responses: { '200': answer('BetaSession', 'The session.'), ...openAiErrors('createTranscriptionSession') },
    },
  }),
  '/v1/listen': path({
    post: {
      ...{ tags: ['deepgram'], operationId: 'transcribeFile', summary: "Transcribe, with Deepgram's parameters" },
      description:
        'The body is the file, of at most 100,000,000 bytes and of a format that POST /api/v1/transcribe takes; ' +
        'the format is decided by content. Shares keys, credits, limits and fair turns with it. The scheme of ' +
        '`Authorization` may be `Token`, too. GET with an upgrade opens a live session.',
      parameters: parameterRefs(IdempotencyKey, ...Object.values(LISTEN_PARAMETERS)),
      requestBody: { required: true, content: { '*/*': {} } },
      responses: {
        '200': answer('ListenAnswer', 'The transcript.', [...TRANSCRIPT_HEADERS, IgnoredFields]),
        ...deepgramErrors('transcribeFile'),
      },
    },
  }),
  '/v1/auth/grant': path({
    post: {
      ...{ tags: ['deepgram'], operationId: 'createToken', summary: 'A token for a live session' },
      description: `${KEY} The scheme of \`Authorization\` may be \`Token\`, too.`,
      requestBody: optionalBody('TokenRequest'),
      responses: { '200': answer('Token', 'The token.'), ...deepgramErrors('createToken') },
    },
  }),
};
