/**
 * Memory of bytes that nobody reads again. A buffer from a socket, and each that Node's HTTP parser makes of a body,
 * has up to 64 KiB outside of V8's heap. V8 learns late that it is dead: uploads of 200 MB in all left 60 MiB of it
 * behind them.
 */
import { MessageChannel } from 'node:worker_threads';

/** Smaller ones may lie in Node's pool, and are not worth the call. */
const WORTH_RELEASING_BYTES = 16_384;

const { port1: closed } = new MessageChannel();
closed.close();

/** Nothing is released of a chunk that ends before its buffer does: the rest of the buffer may be in use. */
export function release({ buffer, byteOffset, byteLength }: Buffer): void {
  const isLast = byteOffset + byteLength === buffer.byteLength;
  // What is transferred to a closed port is freed at once.
  if (isLast && byteLength >= WORTH_RELEASING_BYTES) closed.postMessage(null, [buffer as ArrayBuffer]);
}
