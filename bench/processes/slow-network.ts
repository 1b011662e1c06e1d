/** A network between a node and its database that is not near: each round trip takes so much longer. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class SlowNetwork {
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    /** Where the database seems to be. */
    readonly address: string,
  ) {}

  /** To the database of the address, `postgres://HOST:PORT/…`. */
  static async to(address: string, roundTripMs: number): Promise<SlowNetwork> {
    const url = new URL(address);
    const [host, port] = [url.hostname, Number(url.port || '5432')];
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const network = new SlowNetwork(server, url.href);
    server.on('connection', (node) => network.#join(node, connect(port, host), roundTripMs / 2));
    return network;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(node: Socket, database: Socket, delayMs: number): void {
    for (const [from, to] of [
      [node, database],
      [database, node],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => undefined);
      from.on('data', (chunk) => void setTimeout(() => to.write(chunk), delayMs));
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
