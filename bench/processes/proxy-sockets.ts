/** The connections of a TCP proxy, which end with it. */
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

export class ProxySockets {
  readonly #sockets = new Set<Socket>();

  constructor(private readonly server: Server) {}

  [Symbol.iterator](): Iterator<Socket> {
    return this.#sockets.values();
  }

  /** On a free port of this machine; resolves to the port. */
  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  add(...sockets: readonly Socket[]): void {
    for (const socket of sockets) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
