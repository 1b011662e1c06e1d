/** What an SDK repeats by itself is charged once; what a client asks for twice is charged twice. */
import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import { CuttingProxy, type Cut } from '../../support/cutting-proxy.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, form, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

const PATH = '/v1/audio/transcriptions';
const TEN_MINUTES = 600_000;
const COUNT = 100;
const LANES = 20;

describe("repeats of OpenAI's clients", () => {
  let server: TestServer;
  let customer: Customer;
  let proxy: CuttingProxy | null;
  let now: number;

  beforeEach(async () => {
    now = Date.UTC(2026, 0, 15, 12);
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
    customer = await server.customer(1000);
    proxy = null;
  });
  afterEach(async () => {
    server.engine.release();
    await proxy?.close();
    expect(await server.ledger.audit()).to.deep.equal([]);
    await until(() => server.uploads().length === 0);
    await server.dispose();
  });

  const audio = (text: string, seconds = 3): Part => ['file', fakeAudio(seconds, { text })];
  const model: Part = ['model', 'whisper-1'];
  const retry = { 'x-stainless-retry-count': '1' };

  interface Sent {
    parts?: Part[];
    headers?: Record<string, string>;
    key?: { rawKey: string };
    signal?: AbortSignal;
    to?: { url: string };
  }
  async function send({ parts = [audio('Hello.'), model], headers = {}, key, signal, to }: Sent = {}): Promise<Answer> {
    const { url } = to ?? server;
    return call({ url, port: 0 }, PATH, {
      method: 'POST',
      headers: { ...bearer(key ?? customer.key), ...headers },
      body: form(parts),
      ...(signal ? { signal } : {}),
    });
  }
  /** What its connection broke for. */
  async function broken(sent: Sent): Promise<void> {
    await send(sent).then(
      () => expect.fail('answered'),
      (error: unknown) => expect(error).to.be.instanceOf(Error),
    );
  }
  async function throughProxy(...plan: Cut[]): Promise<{ url: string }> {
    proxy = await CuttingProxy.start(server, plan);
    return proxy;
  }
  const isReplay = ({ status, headers, text }: Answer): boolean => {
    expect(status, text).to.equal(200);
    return headers.get('idempotency-replayed') === 'true';
  };
  const spent = async (who = customer): Promise<number> => 1000 - (await server.balance(who));
  /** One that was charged, and whose answer broke. */
  async function undelivered(sent: Sent = {}): Promise<void> {
    const to = await throughProxy('reset answer');
    await broken({ ...sent, to });
    await proxy!.close();
    proxy = null;
  }

  it(`the SDK: ${COUNT} answers that broke are repeated and charged once each`, async () => {
    // The SDK pauses before it repeats: several at once, each of an account of its own.
    const one = async (n: number, payer: Customer): Promise<void> => {
      const breaking = await CuttingProxy.start(server, [n % 2 === 0 ? 'answer' : 'reset answer']);
      const openai = new OpenAI({ apiKey: payer.key.rawKey, baseURL: `${breaking.url}/v1` });
      const file = await toFile(fakeAudio(3, { text: `Number ${n}.` }), 'a.wav');
      const { text } = await openai.audio.transcriptions.create({ file, model: 'whisper-1' });
      expect([text, breaking.connections]).to.deep.equal([`Number ${n}.`, 2]);
      await breaking.close();
    };
    const lane = async (): Promise<void> => {
      const payer = await server.customer(1000);
      for (let n = 0; n < COUNT / LANES; n += 1) await one(n, payer);
      expect(await spent(payer)).to.equal(COUNT / LANES);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(server.engine.transcribed).to.equal(COUNT);
    expect(server.logs.filter(({ replayed }) => replayed)).to.have.length(COUNT);
  });

  it(`a client without the header: ${COUNT} answers that broke are charged once each`, async () => {
    for (let n = 0; n < COUNT; n += 1) {
      const sent = { parts: [audio(`Number ${n}.`), model] };
      await undelivered(sent);
      const again = await send(sent);
      expect(isReplay(again)).to.equal(true);
      expect(again.body['text']).to.equal(`Number ${n}.`);
      expect(again.headers.get('x-credits-used')).to.equal('1');
    }
    expect(await spent()).to.equal(COUNT);
    expect(server.engine.transcribed).to.equal(COUNT);
  });

  it('the same request made again on purpose is charged, however often', async () => {
    for (let n = 0; n < 3; n += 1) expect(isReplay(await send())).to.equal(false);
    expect(await spent()).to.equal(3);
    // On connections that the client closes, too.
    for (let n = 0; n < 3; n += 1) expect(isReplay(await send({ headers: { connection: 'close' } }))).to.equal(false);
    expect(await spent()).to.equal(6);
  });

  it('two of the same at once are two', async () => {
    server.engine.holdAll();
    const both = [send(), send()];
    await server.engine.untilRunning(2);
    server.engine.release();
    for (const answer of await Promise.all(both)) expect(isReplay(answer)).to.equal(false);
    expect(await spent()).to.equal(2);
  });

  it('a stored answer that was delivered is not given again', async () => {
    await undelivered();
    expect(isReplay(await send())).to.equal(true);
    expect(isReplay(await send())).to.equal(false);
    expect(await spent()).to.equal(2);
  });

  it('a repeat that breaks, too, may be repeated', async () => {
    await undelivered();
    await undelivered();
    expect(isReplay(await send())).to.equal(true);
    expect(await spent()).to.equal(1);
  });

  it('the header reports a repeat though the answer seemed to be delivered', async () => {
    await send();
    expect(isReplay(await send({ headers: retry }))).to.equal(true);
    for (const count of ['0', 'x', '-1', ''])
      expect(isReplay(await send({ headers: { 'x-stainless-retry-count': count } })), count).to.equal(false);
    expect(await spent()).to.equal(5);
  });

  it('other audio, other fields, another account: charged', async () => {
    await undelivered();
    const other = await server.customer(1000);
    expect(isReplay(await send({ parts: [audio('Good day.'), model] }))).to.equal(false);
    for (const field of [
      ['language', 'de'],
      ['response_format', 'text'],
      ['prompt', 'Ada'],
    ] as Part[])
      expect(isReplay(await send({ parts: [audio('Hello.'), model, field], headers: retry })), field[0]).to.equal(
        false,
      );
    expect(isReplay(await send({ key: other.key, headers: retry }))).to.equal(false);
    expect([await spent(), await spent(other)]).to.deep.equal([5, 1]);
    expect(isReplay(await send())).to.equal(true);
  });

  it('after ten minutes it is charged', async () => {
    for (const headers of [{}, retry]) {
      await undelivered();
      now += TEN_MINUTES - 1;
      await undelivered();
      now += 1;
      expect(isReplay(await send({ headers }))).to.equal(false);
      now += TEN_MINUTES;
    }
    expect(await spent()).to.equal(4);
  });

  it('an account that paid with its last credit gets its answer', async () => {
    const poor = await server.customer(1);
    await undelivered({ key: poor.key });
    expect(isReplay(await send({ key: poor.key }))).to.equal(true);
    expect((await send({ key: poor.key })).status).to.equal(429);
    expect((await send({ key: poor.key, parts: [audio('Other.'), model], headers: retry })).status).to.equal(429);
    expect(await server.balance(poor)).to.equal(0);
  });

  it('an Idempotency-Key goes its own way', async () => {
    await undelivered();
    const headers = { 'idempotency-key': 'order 1138' };
    expect(isReplay(await send({ headers }))).to.equal(false);
    expect(isReplay(await send({ headers }))).to.equal(true);
    expect(await spent()).to.equal(2);
  });

  it('/api/v1/transcribe derives no key', async () => {
    const post = (): Promise<Answer> =>
      call(server, '/api/v1/transcribe', {
        ...{ method: 'POST', headers: { ...bearer(customer.key), ...retry } },
        body: form([['audio', fakeAudio(3)]]),
      });
    expect([isReplay(await post()), isReplay(await post())]).to.deep.equal([false, false]);
    expect(await spent()).to.equal(2);
  });

  it('one that was given up while it ran is aborted, and its repeat is served', async () => {
    for (const headers of [{}, retry]) {
      const parts = [audio(`A retry: ${headers === retry}.`), model];
      server.engine.holdAll();
      const client = new AbortController();
      const first = broken({ parts, signal: client.signal });
      await server.engine.untilRunning(1);
      client.abort();
      await first;
      const second = send({ parts, headers });
      await until(() => server.logs.some(({ status }) => status === 499));
      server.engine.release();
      expect(isReplay(await second)).to.equal(false);
      server.logs.length = 0;
    }
    expect(await spent()).to.equal(2);
  });

  for (const [who, headers] of [
    ['a client', {}],
    ['an SDK', retry],
  ] as const) {
    it(`${who} that gave up while the ledger was written gets what was paid for`, async () => {
      const { ledger } = server;
      const settle = ledger.holds.settle.bind(ledger.holds);
      let go = (): void => undefined;
      const gate = new Promise<void>((resolve) => (go = resolve));
      let settled = false;
      ledger.holds.settle = async (...given) => {
        const charge = await settle(...given);
        settled = true;
        await gate;
        return charge;
      };
      const client = new AbortController();
      const first = broken({ signal: client.signal });
      await until(() => settled);
      client.abort();
      await first;
      const second = send({ headers });
      await until(() => server.engine.admitted === 0 && server.uploads().length === 1);
      go();
      expect(isReplay(await second)).to.equal(true);
      expect(await spent()).to.equal(1);
    });
  }

  it('an SDK repeats what runs on behind its back, and waits for that', async () => {
    server.engine.holdAll();
    const first = send();
    await server.engine.untilRunning(1);
    const second = send({ headers: retry });
    await until(() => server.uploads().length === 2);
    server.engine.release();
    expect([isReplay(await first), isReplay(await second)]).to.deep.equal([false, true]);
    expect(await spent()).to.equal(1);
  });

  it('a waiting repeat that is given up leaves nothing', async () => {
    server.engine.holdAll();
    const first = send();
    await server.engine.untilRunning(1);
    const client = new AbortController();
    const second = broken({ signal: client.signal, headers: retry });
    await until(() => server.uploads().length === 2);
    client.abort();
    await second;
    await until(() => server.uploads().length === 1);
    server.engine.release();
    expect(isReplay(await first)).to.equal(false);
  });

  it('one that failed left nothing to repeat', async () => {
    server.engine.failWith = new Error('Out of order.');
    expect((await send()).status).to.equal(500);
    expect(isReplay(await send({ headers: retry }))).to.equal(false);
    expect(await spent()).to.equal(1);
  });

  it('opens many answers on one connection without leaving listeners', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    for (let n = 0; n < 15; n += 1) await send();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).to.deep.equal([]);
  });
});
