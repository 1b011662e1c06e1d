/** Requests as clients send them: fetch for the everyday, raw sockets for what fetch would not do. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { fakeAudio } from './fake-engine.js';
import type { SpeechEngine } from '../../src/engine/types.js';
import type { ErrorBody } from '../../src/http/errors/error-schema.js';
import { bearer, type TestServer } from './server.js';
import { until } from './until.js';

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
  /** Of the error shape, else undefined. */
  error: ErrorBody['error'] | undefined;
  text: string;
}

type AnyServer = Pick<TestServer<SpeechEngine>, 'url' | 'port'>;

export interface CallInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | FormData;
  signal?: AbortSignal;
}

export async function call(server: AnyServer, path: string, init: CallInit = {}): Promise<Answer> {
  const response = await fetch(server.url + path, init);
  const text = await response.text();
  const json = response.headers.get('content-type')?.startsWith('application/json') === true;
  const body = json && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {};
  const error = body['error'] as ErrorBody['error'] | undefined;
  return { status: response.status, headers: response.headers, text, body, error };
}

export type Part = [name: string, value: string | Buffer];

export function form(parts: readonly Part[]): FormData {
  const data = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, new Blob([new Uint8Array(value)]), 'recording.wav');
  }
  return data;
}

export interface TranscribeCall {
  key: { rawKey: string } | string;
  parts?: readonly Part[];
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export function transcribe(server: AnyServer, options: TranscribeCall): Promise<Answer> {
  const { key, parts = [['audio', fakeAudio(3)]], headers = {}, signal } = options;
  return call(server, '/api/v1/transcribe', {
    method: 'POST',
    headers: { ...bearer(key), ...headers },
    body: form(parts),
    ...(signal ? { signal } : {}),
  });
}

/** A TCP connection that records what comes back. */
export class RawClient {
  received = '';
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString('latin1')));
    socket.on('close', () => (this.closed = true));
    socket.on('error', () => undefined);
  }

  static open(server: AnyServer, localAddress = '127.0.0.1'): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawClient(socket)));
    });
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    await until(() => pattern.test(this.received), pattern.source);
    return pattern.exec(this.received)!;
  }

  /** Status and JSON body of the one response received, once it is whole. */
  async answer(): Promise<{ status: number; head: string; error: ErrorBody['error'] }> {
    const length = Number((await this.until(/content-length: (\d+)\r\n/i))[1]);
    const whole = new RegExp(`^HTTP/1\\.1 (\\d+)[^]*?\\r\\n\\r\\n([^]{${length}})`);
    const [all, status, body] = await this.until(whole);
    const { error } = JSON.parse(body!) as ErrorBody;
    return { status: Number(status), head: all.slice(0, -length), error };
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** The server's end of this client's connection, once its next request has reached the server in this process. */
export function servedSocket({ socket: { localPort } }: RawClient): Promise<Socket> {
  return new Promise((resolve) => {
    const onRequest = (message: unknown): void => {
      const { socket } = (message as { request: IncomingMessage }).request;
      if (socket.remotePort !== localPort) return;
      unsubscribe('http.server.request.start', onRequest);
      resolve(socket);
    };
    subscribe('http.server.request.start', onRequest);
  });
}

/** The head of a multipart upload, up to the first byte of the audio. */
export function uploadHead(
  key: { rawKey: string } | string,
  options: { length?: number; extra?: string } = {},
): string {
  const { length, extra = '' } = options;
  const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return (
    'POST /api/v1/transcribe HTTP/1.1\r\nHost: test\r\n' +
    `Authorization: ${bearer(key)['authorization']!}\r\n` +
    `Content-Type: multipart/form-data; boundary=edge\r\n${framing}\r\n${extra}\r\n`
  );
}

export const PART_HEAD =
  '--edge\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n';
export const PART_END = '\r\n--edge--\r\n';

/** An upload of so many bytes from one small buffer; resolves with the status of the answer. */
export async function sendFile(client: RawClient, key: { rawKey: string }, bytes: number): Promise<number> {
  const first = PART_HEAD + fakeAudio(3).toString();
  client.send(uploadHead(key, { length: PART_HEAD.length + bytes + PART_END.length }) + first);
  const chunk = Buffer.alloc(1_000_000);
  let left = bytes - fakeAudio(3).length;
  for (; left > 0; left -= chunk.length) {
    await new Promise((resolve) => client.socket.write(chunk.subarray(0, left), resolve));
  }
  client.send(PART_END);
  const [, status] = await client.until(/^HTTP\/1\.1 (\d+)/);
  client.destroy();
  return Number(status);
}
