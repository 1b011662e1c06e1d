/** What Node's HTTP parser refuses before there is a request to route. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { VerbatimError } from '../../errors.js';
import type { Timers } from '../../timers.js';
import { newRequestId } from './request-id.js';
import { endSoon, endWithError, ignoreInput } from './raw-answer.js';

const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request headers are larger than the server takes.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

export function answerClientErrors(server: Server, logger: Logger, timers: Timers): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const answer = answerOn(socket);
    if (error.code === 'ECONNRESET') {
      socket.destroy();
    } else if (answer !== null || !socket.writable) {
      finish(socket, answer, timers);
    } else {
      const requestId = newRequestId();
      logger.info({ requestId, status: 400, code: 'invalid_request', reason: error.code }, 'not HTTP');
      const message = MESSAGES[error.code ?? ''] ?? 'The request is not valid HTTP.';
      endWithError(socket, new VerbatimError('invalid_request', message), requestId, timers);
    }
  });
}

/** A second answer in the middle of the first would be garbage, and a reset would cost the client the first. */
function finish(socket: Socket, answer: ServerResponse | null, timers: Timers): void {
  ignoreInput(socket);
  if (answer === null) endSoon(socket, timers);
  else answer.once('close', () => endSoon(socket, timers));
}

/** The answer that has begun and is not done; Node keeps it on the socket. */
function answerOn(socket: Socket & { _httpMessage?: ServerResponse | null }): ServerResponse | null {
  const answer = socket._httpMessage ?? null;
  return answer?.headersSent === true ? answer : null;
}
