/** Pipelining on a real node:http server: what is started is counted, and what arrives is what was sent. */
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { oneAtATime, takeInput, whenInputWaits } from '../../../src/http/connections/one-at-a-time.js';
import { Mulberry32 } from '../../support/random.js';
import { SEED } from '../../support/seed.js';

describe('one request of a connection at a time', () => {
  let server: Server;
  let client: Socket;
  let unanswered = 0;
  let most = 0;
  let arrived: string[] = [];
  let waited = 0;
  let taken = 0;

  beforeEach(async () => {
    [unanswered, most, arrived, waited, taken] = [0, 0, [], 0, 0];
    server = createServer();
    server.on('request', oneAtATime(server, answer));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  });
  afterEach(() => {
    client.destroy();
    server.close();
  });

  function answer(req: IncomingMessage, res: ServerResponse): void {
    if (req.url === '/early') return void res.end('</early>');
    unanswered += 1;
    most = Math.max(most, unanswered);
    const body: Buffer[] = [];
    if (req.url === '/paused') readByPieces(req, body);
    else req.on('data', (chunk: Buffer) => body.push(chunk));
    req.on('end', () => {
      arrived.push(`${req.method} ${req.url} ${Buffer.concat(body).toString()}`);
      // Late enough for anything that has been parsed already to have come.
      setImmediate(() => {
        unanswered -= 1;
        res.end(`<${req.url}>`);
      });
    });
  }

  /** Pauses after each piece until the next one waits. */
  function readByPieces(req: IncomingMessage, body: Buffer[]): void {
    const readNext = (): void => {
      if (req.complete || req.readableLength > 0) req.resume();
      else
        whenInputWaits(req, () => {
          waited += 1;
          takeInput(req, () => (taken += 1));
        });
    };
    req.pause();
    req.on('data', (chunk: Buffer) => {
      body.push(chunk);
      req.pause();
      setImmediate(readNext);
    });
    readNext();
  }

  async function answers(count: number): Promise<string[]> {
    let text = '';
    for await (const chunk of client) {
      text += String(chunk);
      const found = [...text.matchAll(/<(\S+)>/g)].map(([, url]) => url!);
      if (found.length === count) return found;
    }
    throw new Error(`closed after ${text}`);
  }

  const get = (n: number): string => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const HIDDEN = 'x\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n';

  it('is started, however many arrive at once', async () => {
    const numbers = Array.from({ length: 1000 }, (_, n) => n);
    client.write(numbers.map(get).join(''));
    expect(await answers(1000)).to.deep.equal(numbers.map((n) => `/${n}`));
    expect(most).to.equal(1);
  });

  it('leaves the rest of a body that was answered before its end to that request', async () => {
    client.write(`POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: ${HIDDEN.length}\r\n\r\nx`);
    await once(client, 'readable');
    client.write(HIDDEN.slice(1) + get(1));
    expect(await answers(2)).to.deep.equal(['/early', '/1']);
  });

  it('reports when input waits for a request that is paused, and each time that its parser has had some', async () => {
    const body = 'x'.repeat(1_000_000);
    client.write(`POST /paused HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}${get(1)}`);
    expect(await answers(2)).to.deep.equal(['/paused', '/1']);
    expect(arrived[0]).to.equal(`POST /paused ${body}`);
    // Node reads 64 KiB at most.
    expect(waited).to.be.at.least(body.length / 65_536);
    expect(taken).to.equal(waited);
  });

  it('is whole, wherever the network cuts', async function () {
    this.timeout(20_000);
    const chunked = `5\r\n\r\n\r\n1\r\n${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;
    const requests = [
      get(0),
      `POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
      `POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
      `POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: t\r\n\r\n`,
      get(4),
    ];
    const expected = ['GET /0 ', `POST /1 ${HIDDEN}`, `POST /2 \r\n\r\n1${HIDDEN}`, 'POST /3 ', 'GET /4 '];
    const bytes = Buffer.from(requests.join(''));
    const random = new Mulberry32(SEED);
    client.setNoDelay(true);
    for (let round = 0; round < 30; round++) {
      arrived = [];
      const got = answers(5).catch((error: unknown) => error);
      const longest = round === 0 ? 1 : 1 + random.below(60);
      for (let at = 0; at < bytes.length;) {
        const length = 1 + random.below(longest);
        client.write(bytes.subarray(at, at + length));
        at += length;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await got;
      expect(arrived).to.deep.equal(expected);
      client.destroy();
      client = connect((server.address() as AddressInfo).port, '127.0.0.1');
      client.setNoDelay(true);
    }
    expect(most).to.equal(1);
  });
});
