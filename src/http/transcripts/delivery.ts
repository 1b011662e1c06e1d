/**
 * Whether an answer has reached its client, as far as a server can know. It has if the system took all of it, the
 * client had not ended the connection before, and did not reset it afterwards. A client, or a proxy before it, leaves
 * an answer unread by a reset. One that closes behind the last byte has read it.
 */
import type { Socket } from 'node:net';
import type { Delivery } from '../../transcription/unkeyed.js';
import type { Exchange } from '../app/exchange.js';

/** Of the last answer on each connection: the next request shows that those before it were read. */
const last = new WeakMap<Socket, Delivery | null>();

/** To be called before the answer is sent. */
export function watchDelivery({ req: { socket }, res }: Exchange, delivery: Delivery | null): void {
  if (!last.has(socket)) socket.once('close', (broken) => broken && last.get(socket)?.lost());
  last.set(socket, delivery);
  if (delivery === null) return;
  if (res.closed) {
    delivery.lost();
    return;
  }
  res.once('finish', () => {
    if (socket.readableEnded || socket.destroyed) delivery.lost();
    else delivery.done();
  });
  res.once('close', () => {
    if (!res.writableFinished) delivery.lost();
  });
}
