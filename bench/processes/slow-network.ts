/** A network between a node and its database that is not near: each round trip takes so much longer. */
import { connect, createServer, type Socket } from 'node:net';
import { ProxySockets } from './proxy-sockets.js';

export class SlowNetwork {
  private constructor(
    private readonly sockets: ProxySockets,
    /** Where the database seems to be. */
    readonly address: string,
  ) {}

  /** To the database of the address, `postgres://HOST:PORT/…`. */
  static async to(address: string, roundTripMs: number): Promise<SlowNetwork> {
    const url = new URL(address);
    const [host, port] = [url.hostname, Number(url.port || '5432')];
    const server = createServer();
    const sockets = new ProxySockets(server);
    url.port = String(await sockets.listen());
    url.hostname = '127.0.0.1';
    const network = new SlowNetwork(sockets, url.href);
    server.on('connection', (node) => network.#join(node, connect(port, host), roundTripMs / 2));
    return network;
  }

  close(): Promise<void> {
    return this.sockets.close();
  }

  #join(node: Socket, database: Socket, delayMs: number): void {
    this.sockets.add(node, database);
    for (const [from, to] of [
      [node, database],
      [database, node],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (chunk) => void setTimeout(() => to.write(chunk), delayMs));
      from.on('close', () => to.destroy());
    }
  }
}
