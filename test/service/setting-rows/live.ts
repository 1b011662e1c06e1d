/** Live sessions of a running server, for the rows of their limits. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Served } from '../../support/served.js';

const RATE = 16_000;

const SAMPLES = `encoding=linear16&sample_rate=${RATE}`;
export const CONTAINER = 'encoding=flac';

async function listen(served: Served, query: string): Promise<WebSocket> {
  const url = `${served.url.replace('http', 'ws')}/v1/listen?${query}`;
  return new WebSocket(url, { headers: { authorization: `Token ${await served.key()}` } });
}

/** The statuses of so many sessions that stay open at the same time, in their order. */
export async function liveSessionsOpened(served: Served, count: number, query = SAMPLES): Promise<number[]> {
  const statuses: number[] = [];
  const sockets: WebSocket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = await listen(served, query);
    sockets.push(socket);
    statuses.push(
      await new Promise<number>((resolve) => {
        socket.once('open', () => resolve(101));
        socket.once('unexpected-response', (_request, response: IncomingMessage) => {
          resolve(response.statusCode ?? 0);
          response.destroy();
        });
        socket.on('error', () => undefined);
      }),
    );
  }
  for (const socket of sockets) socket.terminate();
  return statuses;
}

/** Of a session that gets so many seconds of silence; {} where it is refused. */
export async function lastLiveMessage(served: Served, seconds: number): Promise<Record<string, unknown>> {
  const socket = await listen(served, SAMPLES);
  let last: Record<string, unknown> = {};
  socket.on('message', (data: Buffer) => (last = JSON.parse(data.toString('utf8')) as Record<string, unknown>));
  socket.on('open', () => {
    socket.send(Buffer.alloc(2 * RATE * seconds));
    socket.send(JSON.stringify({ type: 'CloseStream' }));
  });
  // A refusal closes it, too.
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return last;
}
