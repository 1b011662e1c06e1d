/** Every error leaves through here, in the contract's shape; nothing of a bug is shown to the client. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import type { EngineStats } from '../../engine/types.js';
import { ClientGoneError, VerbatimError } from '../../errors.js';
import type { Logger } from 'pino';
import { isExhausted, requestError } from '../../transcription/request-errors.js';
import { HTML_TYPE, type Exchange } from './exchange.js';
import { errorBody } from '../errors/error-schema.js';
import { ERROR_HEADERS, ERROR_TABLE } from '../errors/error-table.js';
import { headerOf, RetryAfter, WwwAuthenticate } from '../schema/headers.js';

/** The body of an error's answer, beside the headers that every form has: JSON, or a page. */
export type ErrorForm = (
  error: VerbatimError,
  exchange: Exchange,
) => { status: number; body: object | string; headers: OutgoingHttpHeaders };

/** The form of errors of paths that begin so. */
export interface ErrorForms {
  under: string;
  form: ErrorForm;
}

export interface ErrorHandlerDeps {
  logger: Logger;
  engineStats: () => EngineStats;
  errorForms: readonly ErrorForms[];
}

export function errorHandler({ logger, engineStats, errorForms }: ErrorHandlerDeps): ErrorRequestHandler {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- Express knows an error handler by its four parameters
  return (thrown: unknown, _req, res, _next) => {
    const exchange = (res.locals as { exchange: Exchange }).exchange;
    const isAnswered = res.headersSent && !exchange.isStreaming;
    if (thrown instanceof ClientGoneError || isAnswered) {
      res.destroy();
      return;
    }
    const error = toVerbatimError(thrown);
    if (error.code === 'internal_error' || isExhausted(thrown)) {
      logger.error({ requestId: exchange.id, route: exchange.route, err: thrown }, 'request failed');
    }
    const { form = jsonError } = errorForms.find(({ under }) => exchange.req.path.startsWith(under)) ?? {};
    exchange.facts.code = error.code;
    const { status, body, headers } = form(error, exchange);
    const all = { ...headersOf(error, engineStats), ...headers };
    if (typeof body === 'string') exchange.send(status, HTML_TYPE, body, all);
    else if (!exchange.endWithError(body)) exchange.json(status, body, all);
  };
}

export const jsonError: ErrorForm = (error, exchange) => ({
  status: ERROR_TABLE[error.code].status,
  body: errorBody(error, exchange.id),
  headers: {},
});

/** `Allow` is the route's to say. */
function headersOf({ code, retryAfterSeconds }: VerbatimError, engineStats: () => EngineStats): OutgoingHttpHeaders {
  const header = ERROR_HEADERS[ERROR_TABLE[code].status];
  if (header === WwwAuthenticate) return headerOf(WwwAuthenticate, 'Bearer');
  if (header !== RetryAfter) return {};
  const backlog = engineStats().retryAfterSeconds;
  // Room for one more request may come in a second, but not for all who were refused.
  if (code === 'overloaded') return headerOf(RetryAfter, Math.max(retryAfterSeconds ?? 1, backlog));
  return headerOf(RetryAfter, retryAfterSeconds ?? backlog);
}

/** Express and its router mark the client's mistakes (a malformed %-escape, say) with a 4xx status. */
function toVerbatimError(thrown: unknown): VerbatimError {
  if (!isClientError(thrown)) return requestError(thrown);
  return new VerbatimError(
    'invalid_request',
    'The request is malformed: its path, a header or its body cannot be read.',
    { cause: thrown },
  );
}

function isClientError(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || thrown instanceof VerbatimError || !('status' in thrown)) {
    return false;
  }
  const { status } = thrown;
  return typeof status === 'number' && status >= 400 && status < 500;
}
