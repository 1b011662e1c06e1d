/** A client of a WebSocket endpoint, for events of JSON. */
import { once } from 'node:events';
import { WebSocket, type ClientOptions } from 'ws';
import { until } from './until.js';

export interface SocketEvent {
  type: string;
  [member: string]: unknown;
}

export class SocketClient {
  readonly events: SocketEvent[] = [];
  closed: { code: number; reason: string } | null = null;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.events.push(JSON.parse(data.toString()) as SocketEvent));
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString() }));
    socket.on('error', () => undefined);
  }

  static async connect(url: string, subprotocols: string[] = [], options: ClientOptions = {}): Promise<SocketClient> {
    const client = new SocketClient(new WebSocket(url.replace(/^http/, 'ws'), subprotocols, options));
    await once(client.socket, 'open');
    return client;
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event));
  }

  of(type: string): SocketEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  /** The first event of this type behind the first `after` events. */
  async next(type: string, after = 0): Promise<SocketEvent> {
    let found: SocketEvent | undefined;
    await until(
      () => {
        found = this.events.slice(after).find((event) => event.type === type);
        return found !== undefined || this.closed !== null;
      },
      `${type} has come; so far: ${this.types.join(', ')}`,
    );
    if (found === undefined)
      throw new Error(`It was closed (${this.closed?.code}) before ${type}: ${this.types.join()}`);
    return found;
  }

  async untilClosed(): Promise<{ code: number; reason: string }> {
    await until(() => this.closed !== null, 'the connection is closed');
    return this.closed!;
  }

  close(): void {
    this.socket.close();
  }
}

/** The HTTP answer to a request for a WebSocket that is refused. */
export function socketRefusal(
  url: string,
  options: ClientOptions = {},
  subprotocols: string[] = [],
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), subprotocols, options);
    socket.on('open', () => {
      socket.close();
      reject(new Error('It was accepted.'));
    });
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
  });
}
