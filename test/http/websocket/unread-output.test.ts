/** What all connections together may have on its way to clients that read nothing. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { SocketConnection } from '../../../src/http/websocket/connection.js';
import { UnreadOutput } from '../../../src/http/websocket/unread-output.js';
import { UselessBytesOfAccounts } from '../../../src/http/websocket/useless-bytes.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { SocketClient } from '../../support/socket-client.js';
import { until } from '../../support/until.js';

const MEBIBYTE = 2 ** 20;
/** Of the server of this test. */
const MOST = 5 * MEBIBYTE;

describe('unread output of all connections', () => {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  const unread = new UnreadOutput(MOST);
  const useless = new UselessBytesOfAccounts();
  const connections: SocketConnection[] = [];
  const clients: SocketClient[] = [];
  let url: string;

  before(async () => {
    sockets.on('connection', (socket) => {
      const connection = new SocketConnection(socket, new ManualTimers(), {
        useless: useless.ofConnection('acct'),
        unread,
      });
      connection.begin({ message: () => undefined, closed: () => undefined });
      connections.push(connection);
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  });
  after(() => {
    for (const client of clients) client.socket.terminate();
    http.close();
  });

  async function open(): Promise<{ client: SocketClient; connection: SocketConnection }> {
    const client = await SocketClient.connect(url);
    clients.push(client);
    await until(() => connections.length === clients.length);
    return { client, connection: connections.at(-1)! };
  }

  /** In pieces, since the kernel holds some itself. */
  async function leaveUnread(connection: SocketConnection, isEnough: () => boolean): Promise<void> {
    while (connection.isOpen && !isEnough()) {
      connection.send({ text: 'x'.repeat(64_000) });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('are bounded: whoever left most unread is cut, and the others stay', async () => {
    const [reader, few, many] = [await open(), await open(), await open()];
    few.client.socket.pause();
    many.client.socket.pause();
    await leaveUnread(many.connection, () => unread.bytes > 3 * MEBIBYTE);
    await leaveUnread(few.connection, () => unread.bytes > 4.5 * MEBIBYTE);
    expect([many.connection.isOpen, few.connection.isOpen]).to.deep.equal([true, true]);
    await leaveUnread(few.connection, () => !many.connection.isOpen);
    expect([many.connection.isOpen, few.connection.isOpen]).to.deep.equal([false, true]);
    expect(unread.bytes).to.be.below(MOST);
    many.client.socket.resume();
    expect((await many.client.untilClosed()).code).to.equal(1006);
    reader.connection.send({ type: 'still here' });
    await reader.client.next('still here');
  });

  it('are none once they are read', async () => {
    for (const { socket } of clients) socket.resume();
    await until(() => unread.bytes === 0);
  });

  it('are none of a client that has left', async () => {
    const gone = await open();
    gone.client.socket.pause();
    await leaveUnread(gone.connection, () => unread.bytes > MEBIBYTE);
    gone.client.socket.terminate();
    await until(() => unread.bytes === 0);
  });
});
