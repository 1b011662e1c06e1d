/** An upload that is refused before its end: the client reads the JSON answer all the same, whatever client it is. */
import { execFile } from 'node:child_process';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ErrorBody } from '../../../src/http/errors/error-schema.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { PART_END, PART_HEAD, RawClient, transcribe, uploadHead } from '../../support/requests.js';
import { bearer, TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

const MEGABYTE = 1_000_000;

interface Refusal {
  status: number;
  code: string;
}

type Send = (key: string, megabytes: number) => Promise<Refusal>;

describe('early refusal', () => {
  let server: TestServer;
  let rich: string;
  let poor: string;

  before(async () => {
    server = await TestServer.start();
    rich = (await server.customer()).key.rawKey;
    poor = (await server.customer(0)).key.rawKey;
  });
  after(() => server.dispose());
  afterEach(() => {
    expect(server.uploads()).to.deep.equal([]);
    expect(server.engine.transcribed).to.equal(0);
  });

  const withFetch: Send = async (key, megabytes) => {
    const parts: [string, Buffer][] = [['audio', Buffer.alloc(megabytes * MEGABYTE)]];
    const answer = await transcribe(server, { key, parts });
    return { status: answer.status, code: answer.error!.code };
  };

  const withFetchStreaming: Send = async (key, megabytes) => {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(PART_HEAD);
      const chunk = Buffer.alloc(MEGABYTE);
      for (let sent = 0; sent < megabytes; sent++) {
        yield chunk;
        await new Promise((resolve) => setImmediate(resolve));
      }
      yield Buffer.from(PART_END);
    }
    const response = await fetch(`${server.url}/api/v1/transcribe`, {
      method: 'POST',
      headers: { ...bearer(key), 'content-type': 'multipart/form-data; boundary=edge' },
      body: chunks(),
      duplex: 'half',
    } as unknown as RequestInit);
    const { error } = (await response.json()) as ErrorBody;
    return { status: response.status, code: error.code };
  };

  const withCurl =
    (...options: string[]): Send =>
    async (key, megabytes) => {
      const file = join(server.directory, 'upload.bin');
      writeFileSync(file, '');
      truncateSync(file, megabytes * MEGABYTE);
      const authorization = `Authorization: ${bearer(key)['authorization']!}`;
      const url = `${server.url}/api/v1/transcribe`;
      const args = ['-sS', '-w', '\n%{http_code}', '-H', authorization, '-F', `audio=@${file}`, ...options, url];
      const { stdout } = await promisify(execFile)('curl', args);
      rmSync(file);
      const [body, status] = stdout.split('\n');
      return { status: Number(status), code: (JSON.parse(body!) as ErrorBody).error.code };
    };

  /** Sends everything it has before it reads anything. */
  const withRawSocket: Send = async (key, megabytes) => {
    const client = await RawClient.open(server);
    client.socket.pause();
    const body = Buffer.alloc(megabytes * MEGABYTE);
    client.send(uploadHead(key, { length: body.length }));
    await new Promise<void>((resolve) => {
      client.socket.write(body, () => resolve());
    });
    client.socket.resume();
    const { status, error } = await client.answer();
    expect(client.received).to.match(/\r\nConnection: close\r\n/i);
    client.destroy();
    return { status, code: error.code };
  };

  const clients: [string, Send][] = [
    ['fetch', withFetch],
    ['fetch with a stream', withFetchStreaming],
    ['curl', withCurl()],
    ['curl without Expect', withCurl('-H', 'Expect:')],
    ['curl, chunked', withCurl('-H', 'Transfer-Encoding: chunked', '-H', 'Expect:')],
    ['a raw socket that reads last', withRawSocket],
  ];
  for (const [client, send] of clients) {
    it(`${client}: unknown key`, async () => {
      const refusal = await send(`vb_${'A'.repeat(43)}`, 40);
      expect(refusal).to.deep.equal({ status: 401, code: 'invalid_api_key' });
    });

    it(`${client}: no credits`, async () => {
      expect(await send(poor, 40)).to.deep.equal({ status: 402, code: 'insufficient_credits' });
    });

    it(`${client}: too large`, async () => {
      expect(await send(rich, 130)).to.deep.equal({ status: 413, code: 'file_too_large' });
    });
  }

  it('answers a bad key on the headers alone', async () => {
    const client = await RawClient.open(server);
    client.send(uploadHead('vb_bad', { length: 50 * MEGABYTE }));
    const { status, error } = await client.answer();
    expect({ status, code: error.code }).to.deep.equal({ status: 401, code: 'invalid_api_key' });
    await until(() => client.socket.readableEnded); // the server's FIN: nothing more will come
    client.destroy();
  });

  it('answers an empty account on the headers alone, a new Idempotency-Key or not', async () => {
    const client = await RawClient.open(server);
    client.send(uploadHead(poor, { length: 50 * MEGABYTE, extra: 'Idempotency-Key: new\r\n' }));
    const { status, error } = await client.answer();
    expect({ status, code: error.code }).to.deep.equal({ status: 402, code: 'insufficient_credits' });
    client.destroy();
  });

  it('answers a bad field while the rest of the upload is still to come', async () => {
    const client = await RawClient.open(server);
    client.send(uploadHead(rich));
    const part = '--edge\r\nContent-Disposition: form-data; name="modle"\r\n\r\nx\r\n--edge\r\n';
    client.send(`${part.length.toString(16)}\r\n${part}\r\n`);
    const { status, error } = await client.answer();
    expect(status).to.equal(400);
    expect(error).to.include({ code: 'invalid_request', param: 'modle' });
    client.destroy();
  });

  it('cuts a body that goes on for ever without ever becoming a part', async () => {
    const client = await RawClient.open(server);
    client.send(uploadHead(rich));
    const chunk = Buffer.alloc(MEGABYTE, 'x');
    const writing = setInterval(() => {
      if (client.socket.writableLength < 4 * MEGABYTE) {
        for (let count = 0; count < 8; count++) {
          client.send(`${chunk.length.toString(16)}\r\n`);
          client.send(chunk);
          client.send('\r\n');
        }
      }
    }, 1);
    try {
      const { status, error } = await client.answer();
      expect({ status, code: error.code }).to.deep.equal({ status: 413, code: 'file_too_large' });
    } finally {
      clearInterval(writing);
      client.destroy();
    }
  });

  describe('Expect: 100-continue', () => {
    const expectHeader = { length: 50 * MEGABYTE, extra: 'Expect: 100-continue\r\n' };

    it('is not invited to send what will be refused', async () => {
      for (const [key, status] of [
        ['vb_bad', 401],
        [poor, 402],
      ] as const) {
        const client = await RawClient.open(server);
        client.send(uploadHead(key, expectHeader));
        expect((await client.answer()).status).to.equal(status);
        expect(client.received).not.to.include('100 Continue');
        client.destroy();
      }
    });

    it('is invited otherwise', async () => {
      const engineServer = await TestServer.start();
      const client = await RawClient.open(engineServer);
      const body = PART_HEAD + fakeAudio(3).toString() + PART_END;
      const { key } = await engineServer.customer();
      client.send(uploadHead(key, { ...expectHeader, length: body.length }));
      await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
      client.received = '';
      client.send(body);
      await client.until(/^HTTP\/1\.1 200 OK/);
      client.destroy();
      await engineServer.dispose();
    });
  });

  it('keeps the connection after refusing a request with a small body', async () => {
    const client = await RawClient.open(server);
    const request = 'POST /api/v1/keys HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\n\r\n{"a"';
    client.send(request);
    expect((await client.answer()).status).to.equal(401);
    client.received = '';
    client.send(request);
    expect((await client.answer()).status).to.equal(401);
    client.destroy();
  });
});
