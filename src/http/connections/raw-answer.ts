/** An answer where there is no request to route: the contract's JSON written by hand, and the connection's end. */
import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import type { VerbatimError } from '../../errors.js';
import type { Timers } from '../../timers.js';
import { errorBody } from '../errors/error-schema.js';
import { ERROR_TABLE } from '../errors/error-table.js';
import { RequestId, RetryAfter, WwwAuthenticate } from '../schema/headers.js';

/** For the client to read the answer while it may still be sending. */
const LINGER_MS = 2000;

/** Input that still comes is discarded. The form is by default that of /api. Returns the status. */
export function endWithError(
  socket: Socket,
  error: VerbatimError,
  requestId: string,
  timers: Timers,
  form: { status?: number; body?: object } = {},
): number {
  const status = form.status ?? ERROR_TABLE[error.code].status;
  const body = JSON.stringify(form.body ?? errorBody(error, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${RequestId.name}: ${requestId}`,
    ...(status === 401 ? [`${WwwAuthenticate.name}: Bearer`] : []),
    ...(error.retryAfterSeconds === null ? [] : [`${RetryAfter.name}: ${error.retryAfterSeconds}`]),
    'Connection: close',
  ];
  endSoon(socket, timers, `${head.join('\r\n')}\r\n\r\n${body}`);
  return status;
}

/** Sends the rest and a FIN, and discards input for a moment: after a reset the client could not read the answer. */
export function endSoon(socket: Socket, timers: Timers, rest = ''): void {
  if (socket.destroyed) return;
  ignoreInput(socket);
  socket.end(rest);
  const timer = timers.after(LINGER_MS, () => socket.destroy());
  socket.once('close', () => timer.cancel());
}

export function ignoreInput(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.resume();
}
