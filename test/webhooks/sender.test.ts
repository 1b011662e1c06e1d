/** One message on its way: real sockets on this machine, the name service a test's. */
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { AddressGuard } from '../../src/webhooks/addresses.js';
import { ATTEMPT_MS, WebhookSender, type SendProblem } from '../../src/webhooks/sender.js';
import { ManualTimers } from '../support/manual-timers.js';
import { until } from '../support/until.js';
import { WebhookListener } from '../support/webhook-listener.js';

describe('WebhookSender', () => {
  let listener: WebhookListener;
  let timers: ManualTimers;

  beforeEach(async () => {
    timers = new ManualTimers();
    listener = await WebhookListener.start();
  });
  afterEach(() => listener.close());

  interface Way {
    url?: string;
    allow?: string[];
    /** By every look-up of the name, the last one for all that follow. */
    resolved?: string[][];
    signal?: AbortSignal;
  }
  const lookups: string[] = [];
  function send({ url = listener.url, allow = ['127.0.0.1'], resolved, signal }: Way = {}): Promise<SendProblem> {
    lookups.length = 0;
    const resolve = (hostname: string): Promise<LookupAddress[]> => {
      lookups.push(hostname);
      const found = resolved?.[Math.min(lookups.length, resolved.length) - 1];
      if (found === undefined) return Promise.reject(new Error(`${hostname} is unknown`));
      return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
    };
    const sender = new WebhookSender({ guard: new AddressGuard(allow), timers, resolve });
    const message = { url, headers: { 'webhook-id': 'msg_1' }, body: '{"a":"ü"}' };
    return sender.send(message, signal ?? new AbortController().signal);
  }
  const named = (): string => `http://hook.example:${listener.port}/`;

  it('posts the body as it is, on a connection of its own', async () => {
    expect(await send()).to.equal(null);
    const [{ headers, body, path } = expect.fail()] = listener.received;
    expect({ body, path }).to.deep.equal({ body: '{"a":"ü"}', path: '/hook' });
    expect(headers).to.include({ 'webhook-id': 'msg_1', 'content-length': '10', connection: 'close' });
  });

  it('takes any 2xx for taken, and 410 for the last word', async () => {
    const answering = async (status: number): Promise<SendProblem> => {
      listener.respond = (_message, response) => void response.writeHead(status).end();
      return send();
    };
    for (const status of [200, 202, 299]) expect(await answering(status)).to.equal(null);
    expect(await answering(500)).to.deep.equal({ problem: 'It answered 500.', final: false });
    expect(await answering(410)).to.include({ final: true });
  });

  it('follows no redirect', async () => {
    const other = await WebhookListener.start();
    listener.respond = (_message, response) => void response.writeHead(307, { location: other.url }).end();
    expect(await send()).to.deep.equal({
      problem: 'It answered 307; redirects are not followed.',
      final: false,
    });
    expect(other.received).to.deep.equal([]);
    await other.close();
  });

  it('connects to no address that is not public, named or not', async () => {
    for (const way of [{ allow: [] }, { allow: [], url: named(), resolved: [['127.0.0.1', '::1']] }]) {
      expect((await send(way))?.problem).to.match(/is not an address of the public internet/);
    }
    expect(listener.received).to.deep.equal([]);
  });

  it('connects to those alone that are permitted, where a name has several', async () => {
    // Nobody listens at the other; a connection to it would fail first.
    expect(await send({ url: named(), resolved: [['127.0.0.9', '127.0.0.1']] })).to.equal(null);
    expect(listener.received).to.have.length(1);
  });

  it('connects to what was looked at, whatever the name means a moment later', async () => {
    const decoy = await WebhookListener.start();
    const url = `http://hook.example:${decoy.port}/`;
    const seen: Socket[] = [];
    const other = createServer((socket) => seen.push(socket)).listen(0, '127.0.0.2');
    await once(other, 'listening');
    const problem = await send({
      url: `http://hook.example:${(other.address() as AddressInfo).port}/`,
      resolved: [['127.0.0.1'], ['127.0.0.2']],
    });
    expect(problem?.problem, 'nobody listens there').to.contain('ECONNREFUSED');
    expect(lookups, 'looked up once').to.have.length(1);
    expect(seen).to.deep.equal([]);
    expect(await send({ url, resolved: [['127.0.0.1'], ['127.0.0.2']] })).to.equal(null);
    other.close();
    await decoy.close();
  });

  it('gives up on an endpoint that does not answer in time, or never ends its answer', async () => {
    for (const respond of [
      (): void => undefined,
      (_message: unknown, response: { write(text: string): unknown }): void => void response.write('on and on'),
    ]) {
      listener.respond = respond;
      const before = listener.received.length;
      const sending = send();
      await until(() => listener.received.length > before);
      timers.pass(ATTEMPT_MS);
      const problem = await sending;
      expect(problem === null || problem.problem === 'It took longer than 15 s.').to.equal(true);
    }
  });

  it('reads little of a long answer', async () => {
    let written = 0;
    listener.respond = (_message, response) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        written += chunk.length;
        if (!response.destroyed) response.write(chunk, more);
      };
      more();
    };
    expect(await send()).to.equal(null);
    expect(written).to.be.below(20_000_000);
  });

  it('reports what went wrong before there was an answer', async () => {
    expect((await send({ url: named() }))?.problem).to.equal('hook.example is unknown');
    listener.respond = (_message, response) => void response.destroy();
    expect((await send())?.problem).to.match(/hang up|ECONNRESET/);
    const tls = listener.url.replace('http', 'https');
    expect(await send({ url: tls })).to.include({ final: false });
  });

  it('stops when the server does', async () => {
    listener.respond = () => undefined;
    const stopping = new AbortController();
    const sending = send({ signal: stopping.signal }).catch((error: unknown) => error);
    await until(() => listener.received.length > 0);
    stopping.abort(new Error('stopping'));
    expect(await sending).to.include({ message: 'stopping' });
  });
});
