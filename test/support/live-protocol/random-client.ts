/** What random clients of both protocols do to a connection. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Mulberry32 } from '../random.js';
import type { SocketClient } from '../socket-client.js';

/** `finish`: the client waits for all results. */
export type ClientEnd = 'finish' | 'close' | 'hang up' | 'half a frame';

export function randomEnd(random: Mulberry32): ClientEnd {
  return random.below(10) < 6 ? 'finish' : random.pick(['close', 'hang up', 'half a frame']);
}

/** Ends in another way than by `finish`. */
export async function leave(client: SocketClient, end: ClientEnd): Promise<void> {
  if (end === 'half a frame') {
    // 126 says that two bytes of length follow.
    const socket = rawSocket(client);
    socket.write(Buffer.from([0x82, 0xfe, 0x10]));
    socket.destroy();
  } else if (end === 'hang up') client.socket.terminate();
  else client.close();
  await client.untilClosed();
}

/** One message: whole, in fragments, or in a frame that arrives in two halves. */
export async function sendSomehow(client: SocketClient, message: Buffer | string, random: Mulberry32): Promise<void> {
  const isText = typeof message === 'string';
  const bytes = Buffer.from(message);
  const cut = random.below(bytes.length + 1);
  const way = random.below(8);
  if (way === 0 && client.closed === null) {
    client.socket.send(bytes.subarray(0, cut), { fin: false, binary: !isText });
    client.socket.send(bytes.subarray(cut), { fin: true, binary: !isText });
  } else if (way === 1 && client.closed === null) {
    const frame = frameOf(bytes, isText);
    const middle = random.below(frame.length);
    rawSocket(client).write(frame.subarray(0, middle));
    await sleep(random.below(5));
    rawSocket(client).write(frame.subarray(middle));
  } else client.socket.send(isText ? message : bytes);
}

/** A short time, or more than a second, after which the server ends an utterance by itself. */
export function pauseSomehow(random: Mulberry32): Promise<void> {
  return sleep(random.below(30) === 0 ? 1100 : random.below(40));
}

function rawSocket(client: SocketClient): Socket {
  return (client.socket as unknown as { _socket: Socket })._socket;
}

/** A masked frame, with a mask that changes nothing. */
function frameOf(bytes: Buffer, isText: boolean): Buffer {
  const first = 0x80 | (isText ? 1 : 2);
  const mask = Buffer.alloc(4);
  if (bytes.length < 126) return Buffer.concat([Buffer.from([first, 0x80 | bytes.length]), mask, bytes]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from([first, 0x80 | 127]), length, mask, bytes]);
}
