import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that knows nothing of audio: it answers at once with `status()`. */
export class StubServer {
  readonly seen: { key: string | undefined; body: string }[] = [];
  readonly #server: Server;

  constructor(status: () => number = () => 200, body = '{}') {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        this.seen.push({ key: request.headers.authorization, body: text });
        response
          .writeHead(status(), {
            'content-type': 'application/json',
            'server-timing': 'upload;dur=1.0, queue;dur=7.5',
          })
          .end(body);
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export async function withStub<T>(stub: StubServer, work: (url: string) => Promise<T>): Promise<T> {
  try {
    return await work(await stub.listen());
  } finally {
    stub.close();
  }
}
