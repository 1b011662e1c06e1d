/**
 * Answers before the request's body has been read. If the server closed at once, the kernel would reset the connection
 * and the client would lose the answer. So the response is written whole and the write side is closed. Input that still
 * comes is discarded until the client stops, within a limit of time and bytes.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Timers } from '../../timers.js';

const MAX_LINGER_MS = 30_000;
const MAX_SILENCE_MS = 5000;
const MAX_BYTES = 256_000_000;
/** Node itself reads and drops the rest of a body this small, and the connection stays usable. */
const SMALL_BODY = 65_536;

/** Whether the client has a body that nobody has read to its end and that is not worth keeping the connection for. */
export function refusesBody(req: IncomingMessage): boolean {
  if (req.complete) return false;
  const { headers } = req;
  if (headers['transfer-encoding'] !== undefined) return true;
  if (headers['content-length'] === undefined) return false;
  // Without "100 Continue" the client may or may not send the body: the connection cannot be used again.
  return headers.expect !== undefined || Number(headers['content-length']) > SMALL_BODY;
}

export function lingeringSend(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: { status: number; headers: OutgoingHttpHeaders; body: Buffer },
  timers: Timers,
): void {
  const { socket } = req;
  res.writeHead(status, { ...headers, Connection: 'close' });
  // Not end(): Node would destroy the socket, unread input and all, as soon as the response is flushed.
  res.write(body, () => socket.end());
  const destroy = (): void => void socket.destroy();
  const silence = timers.after(MAX_SILENCE_MS, destroy);
  const total = timers.after(MAX_LINGER_MS, destroy);
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) destroy();
    else silence.restart();
  });
  req.on('error', destroy);
  req.on('end', destroy);
  req.resume();
  socket.once('close', () => {
    silence.cancel();
    total.cancel();
  });
}
