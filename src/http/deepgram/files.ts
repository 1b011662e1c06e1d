/** POST /v1/listen: Deepgram's words for what /api/v1/transcribe does. The body is the file. */
import { VerbatimError } from '../../errors.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import type { TranscriptionAnswer } from '../../transcription/transcription.js';
import { authenticated } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { JSON_TYPE, type Exchange } from '../app/exchange.js';
import { readIdempotencyKey } from '../app/idempotency-key.js';
import { mediaType } from '../app/request-body.js';
import type { Route } from '../app/route.js';
import { headerOf } from '../schema/headers.js';
import { invalid } from '../schema/shape.js';
import { IgnoredFields, resultHeaders } from '../transcripts/transcription-headers.js';
import { transcriptionRoute, type Dialect, type WrittenAnswer } from '../transcripts/transcription-route.js';
import { LISTEN_PATH } from './errors.js';
import { listenAnswer, type FileFacts } from './file-answer.js';
import { checkListenModel, fileQuery, queryOf, type FileQuery } from './file-query.js';
import { headerKey } from './sockets.js';

export function listenFileRoutes(deps: HttpDeps): Route[] {
  const dialect: Dialect = {
    ...{ path: LISTEN_PATH, form: null, idempotencyKey: readIdempotencyKey },
    checkEarly: ({ req }) => {
      refuseOtherBodies(req.headers['content-type']);
      const query = queryOf(req);
      fileQuery(query, deps.speechModels);
      checkListenModel(query, deps.speechModels);
    },
    asked: (_fields, exchange, { sha256 }) => {
      const query = fileQuery(queryOf(exchange.req), deps.speechModels);
      const facts = { requestId: exchange.id, sha256, createdAt: createdAt(exchange, deps) };
      return { options: query.options, keep: query.keep, written: (answer) => written(answer, query, facts) };
    },
  };
  return [transcriptionRoute(deps, dialect, (own, handler) => authenticated(own, handler, headerKey))];
}

/** What is no file. */
function refuseOtherBodies(contentType: string | undefined): void {
  const type = mediaType(contentType);
  if (type === 'application/json') {
    throw invalid('url', 'A body with a "url" is not supported by this server: send the file itself as the body.');
  }
  if (type !== 'multipart/form-data') return;
  throw new VerbatimError('unsupported_media_type', 'Send the file itself as the body, without a form around it.');
}

function createdAt({ startedAt }: Exchange, { clock }: Pick<HttpDeps, 'clock'>): number {
  return clock() - (performance.now() - startedAt);
}

async function written(answer: TranscriptionAnswer, query: FileQuery, facts: FileFacts): Promise<WrittenAnswer> {
  if ('body' in answer) throw new Error('No answer of this endpoint was ever stored as a body.');
  const headers = {
    ...resultHeaders(answer.result),
    ...(query.ignored.length === 0 ? {} : headerOf(IgnoredFields, query.ignored.join(', '))),
    'dg-request-id': facts.requestId,
  };
  return { type: JSON_TYPE, body: await jsonBytes(await listenAnswer(answer.result, query, facts)), headers };
}
