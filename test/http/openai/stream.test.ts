/** Answers in events: what comes when, what a client that does not read costs, and who pays for what. */
import { expect } from 'chai';
import { TranslationEngine } from '../../../src/engine/translation/translation-engine.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { EventReader, joinedDeltas, type ReadEvent } from '../../support/event-reader.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { FakeTranslation } from '../../support/fake-translation.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, form, RawClient, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer, type TestServerOptions } from '../../support/server.js';
import { until } from '../../support/until.js';

const PATH = '/v1/audio/transcriptions';
const TRANSLATIONS = '/v1/audio/translations';
const HEARTBEAT_MS = 15_000;
/** A window a minute. */
const THREE_MINUTES = fakeAudio(180, { text: 'One.|Two.|Three.' });

const DELTA = 'transcript.text.delta';
const delta = (text: string): ReadEvent => ({ event: DELTA, data: { type: DELTA, delta: text } });

interface Sent {
  file?: Buffer;
  parts?: Part[];
  path?: string;
  headers?: Record<string, string>;
  key?: { rawKey: string };
  signal?: AbortSignal;
  to?: { url: string };
}

/** As bytes. */
function upload(file: Buffer, key: { rawKey: string }): string {
  const body =
    '--edge\r\nContent-Disposition: form-data; name="stream"\r\n\r\ntrue\r\n' +
    '--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n' +
    '--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' +
    `${file.toString()}\r\n--edge--\r\n`;
  return (
    `POST ${PATH} HTTP/1.1\r\nHost: test\r\nAuthorization: ${bearer(key)['authorization']!}\r\n` +
    `Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

/** Of a body in chunks. */
const unchunked = (received: string): string => received.replaceAll(/\r\n[0-9a-f]+\r\n/g, '');

describe('answers in events', () => {
  let server: TestServer;
  let customer: Customer;
  let timers: ManualTimers;

  async function start(options: TestServerOptions = {}): Promise<void> {
    timers = new ManualTimers();
    server = await TestServer.start({ timers, ...options });
    customer = await server.customer(100);
  }
  afterEach(async () => {
    server.engine.release();
    await until(() => server.engine.running === 0 && server.uploads().length === 0);
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const request = ({ file = THREE_MINUTES, parts = [], headers = {}, key, signal }: Sent) => ({
    method: 'POST',
    headers: { ...bearer(key ?? customer.key), ...headers },
    body: form([['file', file], ['model', 'whisper-1'], ['stream', 'true'], ...parts]),
    ...(signal ? { signal } : {}),
  });
  const open = (sent: Sent = {}): Promise<EventReader> =>
    EventReader.open(sent.to ?? server, sent.path ?? PATH, request(sent));
  const post = (sent: Sent = {}): Promise<Answer> => call(server, sent.path ?? PATH, request(sent));
  const spent = async (): Promise<number> => 100 - (await server.balance(customer));
  const last = (events: readonly ReadEvent[]): ReadEvent => events.at(-1)!;
  /** Its first pieces, read while it runs. */
  async function listening(pieces: number, sent: Sent = {}): Promise<EventReader> {
    server.engine.holdAll(pieces);
    const reader = await open(sent);
    for (let n = 0; n < pieces; n += 1) expect((await reader.next())?.event).to.equal(DELTA);
    return reader;
  }
  const logged = (status: number): boolean => server.logs.some((line) => line['status'] === status);
  const usedMinutes = async (): Promise<number> =>
    (await server.ledger.usage(customer.account.id, 1)).totalMinutes;

  describe('what is told', () => {
    beforeEach(() => start());

    it('each piece as soon as it is there, then the whole, what it cost and how long it is', async () => {
      server.engine.holdAll(1);
      const reader = await open({ parts: [['language', 'tlh']] });
      const { headers } = reader.response;
      expect(headers.get('x-accel-buffering')).to.equal('no');
      expect(headers.get('x-ignored-fields')).to.equal('language');
      expect(headers.get('x-request-id')).to.match(/^req_/);
      expect(await reader.next()).to.deep.equal(delta('One.'));
      expect(server.engine.running).to.equal(1);
      server.engine.release();
      const events = await reader.rest();
      expect(events.slice(0, -1)).to.deep.equal([delta(' Two.'), delta(' Three.')]);
      expect(last(events).event).to.equal('transcript.text.done');
      expect(last(events).data).to.deep.include({
        ...{ type: 'transcript.text.done', text: 'One. Two. Three.' },
        ...{ usage: { type: 'duration', seconds: 180 }, credits_used: 3, credits_remaining: 97 },
      });
      expect(last(events).data['id']).to.match(/^tr_/);
      expect(await spent()).to.equal(3);
      const line = server.logs.find(({ status }) => status === 200);
      expect(line).to.include({ audioSeconds: 180, transcriptionId: last(events).data['id'] });
    });

    it('with verbose_json all that the answer in one piece has', async () => {
      const verbose: Part = ['response_format', 'verbose_json'];
      const { data } = last(await (await open({ parts: [verbose] })).rest());
      const body = form([['file', THREE_MINUTES], ['model', 'whisper-1'], verbose]);
      const whole = await call(server, PATH, { method: 'POST', headers: bearer(customer.key), body });
      expect(whole.body['segments']).to.have.length(3);
      expect(data).to.deep.include(whole.body);
    });

    it('the times that were asked for with json, too, as Subtitle Edit does', async () => {
      const parts = ['segment', 'word'].map((value): Part => ['timestamp_granularities[]', value]);
      const { data } = last(await (await open({ parts: [['response_format', 'json'], ...parts] })).rest());
      expect(data['segments']).to.have.length(3);
      expect(data['words']).to.have.length(3);
      const plain = last(await (await open({ parts: [['response_format', 'json']] })).rest());
      expect(plain.data).not.to.have.any.keys('segments', 'words');
    });

    it('with text the same pieces', async () => {
      const events = await (await open({ parts: [['response_format', 'text']] })).rest();
      expect(joinedDeltas(events)).to.equal('One. Two. Three.');
    });

    it('nothing but the end where nothing is said', async () => {
      const events = await (await open({ file: fakeAudio(3, { text: ' ' }) })).rest();
      expect(events.map(({ event }) => event)).to.deep.equal(['transcript.text.done']);
      expect(last(events).data['text']).to.equal('');
    });

    it('nothing of it to those who do not ask', async () => {
      for (const value of ['false', '0', '', 'null']) {
        const body = form([
          ['file', fakeAudio(3)],
          ['model', 'whisper-1'],
          ['stream', value],
        ]);
        const { headers } = await call(server, PATH, { method: 'POST', headers: bearer(customer.key), body });
        expect(headers.get('content-type')).to.contain('application/json');
      }
    });
  });

  describe('a client that waits', () => {
    beforeEach(() => start());

    it('hears comments while there is nothing to say, and none besides', async () => {
      server.engine.holdAll();
      const opening = open();
      await server.engine.untilRunning(1);
      timers.pass(2 * HEARTBEAT_MS);
      const reader = await opening;
      for (let n = 0; n < 2; n += 1) expect((await reader.next())?.event).to.equal(null);
      server.engine.release();
      await until(() => logged(200));
      timers.pass(10 * HEARTBEAT_MS);
      const events = await reader.rest();
      expect(events.map(({ event }) => event)).to.not.include(null);
      expect(joinedDeltas(events)).to.equal('One. Two. Three.');
    });

    it('hears none right behind a piece', async () => {
      const reader = await listening(1);
      timers.pass(HEARTBEAT_MS);
      timers.pass(HEARTBEAT_MS);
      expect((await reader.next())?.event).to.equal(null);
      server.engine.release();
      expect((await reader.rest()).map(({ event }) => event)).to.not.include(null);
    });

    it('is refused as ever before anything was written', async () => {
      server.engine.failWith = new Error('Out of order.');
      const { status, headers, body } = await post();
      expect(status).to.equal(500);
      expect(headers.get('content-type')).to.contain('application/json');
      expect(body['error']).to.include({ type: 'server_error' });
      expect((await post({ file: Buffer.from('no audio') })).status).to.equal(400);
      timers.pass(10 * HEARTBEAT_MS);
      expect(await spent()).to.equal(0);
    });
  });

  describe('an error of ours in the middle', () => {
    beforeEach(() => start());
    const failed = async (reader: EventReader, code: string): Promise<void> => {
      const end = last(await reader.rest());
      expect(end.event).to.equal('error');
      expect(Object.keys(end.data)).to.deep.equal(['error']);
      expect(end.data['error']).to.include({ type: 'server_error', code, param: null });
      await until(() => server.uploads().length === 0);
      expect([await spent(), await usedMinutes()]).to.deep.equal([0, 0]);
      expect(last(server.logs as never)).to.include({ status: 200, code });
    };

    it('of the engine is told, and uncharged', async () => {
      const reader = await listening(1);
      server.engine.failWith = new Error('Out of order.');
      server.engine.release();
      await failed(reader, 'internal_error');
      expect(server.logs.some(({ msg }) => msg === 'request failed')).to.equal(true);
    });

    it('is told after a heartbeat alone, too', async () => {
      server.engine.holdAll();
      const opening = open();
      await server.engine.untilRunning(1);
      timers.pass(HEARTBEAT_MS);
      const reader = await opening;
      server.engine.failWith = new Error('Out of order.');
      server.engine.release();
      await failed(reader, 'internal_error');
    });

    it('is that it takes too long', async () => {
      await server.dispose();
      await start({ settings: { requestTimeoutMs: 1000 } });
      const reader = await listening(1);
      timers.pass(1000);
      await failed(reader, 'overloaded');
    });

    it('is that the server ends', async () => {
      const reader = await listening(2);
      const closing = server.close(0);
      timers.pass(0);
      await failed(reader, 'shutting_down');
      // The connection is kept alive: it began before the end was known.
      await timers.untilWaiting(2000);
      timers.pass(2000);
      await closing;
    });
  });

  describe('clients that do not read', () => {
    beforeEach(() => start());
    const MEGABYTES = 2;

    const unread = async (file: Buffer, key: { rawKey: string }): Promise<RawClient> => {
      const client = await RawClient.open(server);
      client.socket.pause();
      client.send(upload(file, key));
      return client;
    };
    const deltasOf = ({ received }: RawClient): string =>
      [...received.matchAll(/"delta":"([^"]*)"/g)].map(([, text]) => text).join('');

    it('hold no slot: the work goes on without them, and they find all of it in the end', async () => {
      // More than the system takes for a connection.
      server.engine.repeats = (MEGABYTES * 1_000_000) / 5;
      const client = await unread(fakeAudio(180, { text: 'One. |Two. |Six. ' }), customer.key);
      await until(() => logged(200));
      expect(server.engine).to.include({ running: 0, admitted: 0 });
      expect(server.uploads()).to.deep.equal([]);
      expect(await spent()).to.equal(3);
      expect(client.socket.bytesRead).to.be.below(2 * 3 * MEGABYTES * 1_000_000);
      client.socket.resume();
      await until(() => client.received.endsWith('\r\n0\r\n\r\n'));
      const whole = /"text":"([^"]*)"/.exec(unchunked(client.received))![1]!;
      expect(whole).to.have.length(3 * MEGABYTES * 1_000_000 - 1);
      expect(whole.endsWith('Six. Six.')).to.equal(true);
      client.destroy();
    });

    it('of 100 at once none keeps another from being served', async () => {
      const payers = await Promise.all(Array.from({ length: 25 }, () => server.customer(12)));
      const clients = await Promise.all(
        Array.from({ length: 100 }, (_, n) => unread(THREE_MINUTES, payers[n % 25]!.key)),
      );
      await until(() => server.logs.filter(({ status }) => status === 200).length === 100);
      expect(server.engine).to.include({ running: 0, admitted: 0 });
      for (const payer of payers) expect(await server.balance(payer)).to.equal(0);
      expect(joinedDeltas(await (await open()).rest())).to.equal('One. Two. Three.');
      for (const client of clients) {
        client.socket.resume();
        await client.until(/\r\n0\r\n\r\n$/);
        expect(deltasOf(client)).to.equal('One. Two. Three.');
        client.destroy();
      }
    });
  });

  describe('a client that leaves', () => {
    beforeEach(() => start());
    /** Hangs up when it has read so many pieces. */
    async function leave(pieces: number, sent: Sent = {}): Promise<void> {
      const controller = new AbortController();
      const reader = await listening(pieces, { ...sent, signal: controller.signal });
      controller.abort();
      await reader.rest().catch(() => undefined);
      await until(() => logged(499));
    }

    for (const [pieces, minutes] of [
      [1, 1],
      [2, 2],
      [3, 3],
    ] as const) {
      it(`pays for the ${minutes} minutes that it was told`, async () => {
        await leave(pieces);
        expect(server.engine.running).to.equal(0);
        expect([await spent(), await usedMinutes()]).to.deep.equal([minutes, minutes]);
        expect((await server.ledger.usage(customer.account.id, 1)).byEndpoint).to.deep.equal([
          { endpoint: PATH, minutes },
        ]);
      });
    }

    it('pays for started minutes, never for more than was held', async () => {
      await leave(1, { file: fakeAudio(61, { text: 'One.|Two.' }) });
      expect(await spent()).to.equal(1);
      server.logs.length = 0;
      await leave(2, { file: fakeAudio(61, { text: 'One.|Two.' }) });
      expect(await spent()).to.equal(3);
    });

    it('pays nothing before it was told anything, heartbeats aside', async () => {
      server.engine.holdAll();
      const controller = new AbortController();
      const opening = open({ signal: controller.signal });
      await server.engine.untilRunning(1);
      timers.pass(HEARTBEAT_MS);
      expect((await (await opening).next())?.event).to.equal(null);
      controller.abort();
      await until(() => logged(499));
      expect(await spent()).to.equal(0);
    });

    it('by the end of its side, too', async () => {
      server.engine.holdAll(1);
      const client = await RawClient.open(server);
      client.send(upload(THREE_MINUTES, customer.key));
      await client.until(/"delta":"One\."/);
      client.socket.end();
      await until(() => logged(499));
      expect(await spent()).to.equal(1);
    });

    it('has its key revoked: it is told so, and pays as much', async () => {
      const reader = await listening(2);
      await server.asCli((ledger) => ledger.revokeKey(customer.account.id, customer.key.id));
      timers.pass(250);
      const end = last(await reader.rest());
      expect(end).to.deep.include({ event: 'error' });
      expect(end.data['error']).to.include({ code: 'invalid_api_key' });
      await until(() => server.uploads().length === 0);
      expect([await spent(), await usedMinutes()]).to.deep.equal([2, 2]);
    });

    it('has its key revoked just before the charge: it pays for what it was told', async () => {
      const reader = await listening(3);
      await server.asCli((ledger) => ledger.revokeKey(customer.account.id, customer.key.id));
      server.engine.release();
      expect(last(await reader.rest()).data['error']).to.include({ code: 'invalid_api_key' });
      await until(() => server.uploads().length === 0);
      expect([await spent(), await usedMinutes()]).to.deep.equal([3, 3]);
    });

    it('has its key revoked before it was told anything: nothing is charged', async () => {
      server.engine.holdAll();
      const answer = post();
      await server.engine.untilRunning(1);
      await server.asCli((ledger) => ledger.revokeKey(customer.account.id, customer.key.id));
      timers.pass(250);
      const { status, headers } = await answer;
      expect([status, headers.get('content-type')]).to.deep.equal([401, 'application/json; charset=utf-8']);
      expect(await spent()).to.equal(0);
    });

    it('and asks again is a new request', async () => {
      const all = [{}, { 'x-stainless-retry-count': '1' }, { 'idempotency-key': 'once' }];
      for (const [n, headers] of all.entries()) {
        const before = await spent();
        const file = fakeAudio(180, { text: `One.|Two.|Number ${n}.` });
        await leave(1, { file, headers });
        server.logs.length = 0;
        server.engine.release();
        const reader = await open({ file, headers });
        expect(reader.response.headers.get('idempotency-replayed')).to.equal(null);
        expect(joinedDeltas(await reader.rest())).to.equal(`One. Two. Number ${n}.`);
        expect((await spent()) - before).to.equal(4);
      }
    });
  });

  describe('a repeat', () => {
    beforeEach(() => start());

    it('of one that was told to its end, but did not arrive, is what was paid for', async () => {
      const proxy = await CuttingProxy.start(server, [{ resetAt: 'transcript.text.done' }]);
      await open({ to: proxy })
        .then((reader) => reader.rest())
        .catch(() => undefined);
      await proxy.close();
      expect(await spent()).to.equal(3);
      const reader = await open();
      expect(reader.response.headers.get('idempotency-replayed')).to.equal('true');
      const events = await reader.rest();
      expect(joinedDeltas(events)).to.equal('One. Two. Three.');
      expect(last(events).data).to.include({ text: 'One. Two. Three.', credits_used: 3 });
      expect(await spent()).to.equal(3);
      expect((await open()).response.headers.get('idempotency-replayed')).to.equal(null);
    });

    it('by a key may have it in the other form', async () => {
      const headers = { 'idempotency-key': 'once' };
      const first = await (await open({ headers })).rest();
      const body = form([
        ['file', THREE_MINUTES],
        ['model', 'whisper-1'],
      ]);
      const init = { method: 'POST', headers: { ...bearer(customer.key), ...headers }, body };
      const whole = await call(server, PATH, init);
      expect(whole.headers.get('idempotency-replayed')).to.equal('true');
      expect(whole.body['text']).to.equal(joinedDeltas(first));
      const again = await (await open({ headers })).rest();
      expect(again).to.have.length(2);
      expect(last(again)).to.deep.equal(last(first));
      expect(await spent()).to.equal(3);
    });
  });

  describe('a translation', () => {
    const spanish = (text: string): Buffer => fakeAudio(180, { language: 'es', text });

    it('of the speech model is told as it is heard for the second time', async () => {
      await start();
      server.engine.translatesToEnglish = true;
      const events = await (await open({ path: TRANSLATIONS, file: spanish('Uno.|Dos.') })).rest();
      expect(events.slice(0, -1)).to.deep.equal([delta('into English: Uno.'), delta(' Dos.')]);
      expect(last(events).data).to.include({ text: 'into English: Uno. Dos.', credits_used: 3 });
    });

    it('of what is English already is told as it is heard', async () => {
      await start();
      server.engine.translatesToEnglish = true;
      const reader = await listening(1, { path: TRANSLATIONS });
      expect(server.engine.running).to.equal(1);
      server.engine.release();
      expect(last(await reader.rest()).data).to.include({ text: 'One. Two. Three.', credits_used: 3 });
    });

    it('by a translation model is told sentence by sentence; who leaves pays for those, surcharge and all', async () => {
      const fake = new FakeTranslation();
      const models = [{ name: 'es-en', path: 'es-en', from: ['es'], to: ['en'] }];
      const translator = new TranslationEngine({
        ...{ binding: fake, models, device: 'cpu', backend: 'auto', translators: 1, threads: 1 },
      });
      await start({ translator, settings: { translationCreditsPerMinute: 1 } });
      const long = `Dos ${'y '.repeat(60)}`.trim();
      const file = spanish(`Uno.|${long}.|Tres.`);
      const whole = await (await open({ path: TRANSLATIONS, file })).rest();
      expect(joinedDeltas(whole)).to.equal(last(whole).data['text']);
      expect(last(whole).data['text']).to.equal(`(es-en) Uno. (es-en) ${long}. (es-en) Tres.`);
      expect(await spent()).to.equal(6);
      // The batch of the short sentences goes through, that of the long one stays.
      fake.hold();
      const controller = new AbortController();
      const opening = open({ path: TRANSLATIONS, file, signal: controller.signal });
      await fake.untilRunning(1);
      fake.release();
      fake.hold();
      const reader = await opening;
      expect(await reader.next()).to.deep.equal(delta('(es-en) Uno.'));
      controller.abort();
      await until(() => logged(499));
      fake.release();
      expect(await spent()).to.equal(6 + 2);
      await translator.close();
    });
  });
});
