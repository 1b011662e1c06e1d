/** What Node's HTTP parser refuses before there is a request to route. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { VerbatimError } from '../errors.js';
import type { Timers } from '../timers.js';
import { newRequestId } from './exchange.js';
import { endWithError } from './raw-answer.js';

const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request headers are larger than the server takes.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

export function answerClientErrors(server: Server, logger: Logger, timers: Timers): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || responseBegun(socket)) {
      socket.destroy();
      return;
    }
    const requestId = newRequestId();
    logger.info({ requestId, status: 400, code: 'invalid_request', reason: error.code }, 'not HTTP');
    const message = MESSAGES[error.code ?? ''] ?? 'The request is not valid HTTP.';
    endWithError(socket, new VerbatimError('invalid_request', message), requestId, timers);
  });
}

/** A second response in the middle of the first would be garbage. Node keeps the running one on the socket. */
function responseBegun(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}
