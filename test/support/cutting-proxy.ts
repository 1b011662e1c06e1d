/** A TCP proxy in front of a server that breaks connections as a test asks. */
import { connect, createServer, type Socket } from 'node:net';
import { ProxySockets } from '../../bench/processes/proxy-sockets.js';

/**
 * What happens to a connection:
 * - `pass`: nothing;
 * - `upload`: broken once a megabyte of the request has been passed on;
 * - `answer`: broken in place of the answer, which the server has sent;
 * - `reset answer`: the same, and the server gets a reset, as by a proxy that has not read the answer;
 * - `half answer`: broken in the middle of the answer;
 * - `resetAt`: as a reset answer, but only once this has been passed on of it;
 * - `client`: the client's side is broken by breakClients(); the server's stays, so that it notices nothing.
 */
export type Cut = 'pass' | 'upload' | 'answer' | 'reset answer' | 'half answer' | 'client' | { resetAt: string };

const SOME_OF_AN_UPLOAD = 1_000_000;

export class CuttingProxy {
  connections = 0;
  readonly #toBreak = new Set<Socket>();

  private constructor(
    private readonly sockets: ProxySockets,
    readonly url: string,
    private readonly plan: Cut[],
  ) {}

  /** The first connection meets the first of `plan`, and so on; those after the last pass. */
  static async start(target: { port: number }, plan: readonly Cut[]): Promise<CuttingProxy> {
    const server = createServer();
    const sockets = new ProxySockets(server);
    const proxy = new CuttingProxy(sockets, `http://127.0.0.1:${await sockets.listen()}`, [...plan]);
    server.on('connection', (client) => proxy.#join(client, target.port));
    return proxy;
  }

  breakClients(): void {
    for (const client of this.#toBreak) client.destroy();
  }

  close(): Promise<void> {
    return this.sockets.close();
  }

  #join(client: Socket, port: number): void {
    this.connections++;
    const cut = this.plan.shift() ?? 'pass';
    const upstream = connect(port, '127.0.0.1');
    this.sockets.add(client, upstream);
    const breakBoth = (): void => {
      client.destroy();
      upstream.destroy();
    };
    if (cut === 'client') this.#toBreak.add(client);
    client.on('data', (chunk) => {
      upstream.write(chunk);
      if (cut === 'upload' && client.bytesRead >= SOME_OF_AN_UPLOAD) breakBoth();
    });
    const reset = (): void => {
      client.destroy();
      upstream.resetAndDestroy();
    };
    let passed = '';
    upstream.on('data', (chunk) => {
      if (typeof cut === 'object') {
        client.write(chunk);
        passed += chunk.toString('latin1');
        if (passed.includes(cut.resetAt)) reset();
      } else if (cut === 'answer') breakBoth();
      else if (cut === 'reset answer') reset();
      else if (cut === 'half answer') client.write(chunk.subarray(0, chunk.length - 10), breakBoth);
      else if (!client.destroyed) client.write(chunk);
    });
    client.on('close', () => {
      if (cut !== 'client') upstream.destroy();
    });
    upstream.on('close', () => client.end());
  }
}
