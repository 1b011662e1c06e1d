/** What Node's HTTP parser refuses before there is a request to route: the contract's JSON, written by hand. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Timers } from '../timers.js';
import { newRequestId } from './exchange.js';
import { errorBody } from './responses.js';

/** For the client to read the answer while it may still be sending. */
const LINGER_MS = 2000;

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
    socket.end(rawAnswer(MESSAGES[error.code ?? ''] ?? 'The request is not valid HTTP.', requestId));
    const timer = timers.after(LINGER_MS, () => socket.destroy());
    socket.once('close', () => timer.cancel());
  });
  // An expectation other than 100-continue may be ignored (RFC 9110, 10.1.1); Node would answer 417 without a body.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    server.emit('request', req, res);
  });
}

/** A second response in the middle of the first would be garbage. Node keeps the running one on the socket. */
function responseBegun(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

function rawAnswer(message: string, requestId: string): string {
  const body = JSON.stringify(errorBody({ code: 'invalid_request', message, param: null }, requestId));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
