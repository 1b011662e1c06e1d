/** An endpoint on this machine that receives webhooks, and answers as a test wants. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedMessage {
  path: string;
  headers: Record<string, string>;
  body: string;
}

type Respond = (message: ReceivedMessage, response: ServerResponse) => void;

export class WebhookListener {
  readonly received: ReceivedMessage[] = [];
  /** Default: 204. */
  respond: Respond = (_message, response) => void response.writeHead(204).end();

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const headers = request.headers as Record<string, string>;
        const message = { path: request.url ?? '', headers, body: Buffer.concat(chunks).toString() };
        this.received.push(message);
        this.respond(message, response);
      });
    });
  }

  static async start(port = 0): Promise<WebhookListener> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new WebhookListener(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
