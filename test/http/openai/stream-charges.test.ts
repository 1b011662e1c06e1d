/** Answers in events: what a client that does not read costs, and who pays for what. */
import { expect } from 'chai';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { joinedDeltas } from '../../support/event-reader.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, form, RawClient } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { until } from '../../support/until.js';
import {
  HEARTBEAT_MS,
  last,
  PATH,
  type SentStream,
  THREE_MINUTES,
  unchunked,
  upload,
  useStreamFixture,
} from './stream-fixture.js';

describe('answers in events: charges', () => {
  const fixture = useStreamFixture();

  describe('clients that do not read', () => {
    beforeEach(() => fixture.start());
    const MEGABYTES = 2;

    const unread = async (file: Buffer, key: { rawKey: string }): Promise<RawClient> => {
      const client = await RawClient.open(fixture.server);
      client.socket.pause();
      client.send(upload(file, key));
      return client;
    };
    const deltasOf = ({ received }: RawClient): string =>
      [...received.matchAll(/"delta":"([^"]*)"/g)].map(([, text]) => text).join('');

    it('hold no slot: the work goes on without them, and they find all of it in the end', async () => {
      // More than the system takes for a connection.
      fixture.server.engine.repeats = (MEGABYTES * 1_000_000) / 5;
      const client = await unread(fakeAudio(180, { text: 'One. |Two. |Six. ' }), fixture.customer.key);
      await until(() => fixture.hasLogged(200));
      expect(fixture.server.engine).to.include({ running: 0, admitted: 0 });
      expect(fixture.server.uploads()).to.deep.equal([]);
      expect(await fixture.spent()).to.equal(3);
      expect(client.socket.bytesRead).to.be.below(2 * 3 * MEGABYTES * 1_000_000);
      client.socket.resume();
      await until(() => client.received.endsWith('\r\n0\r\n\r\n'));
      const whole = /"text":"([^"]*)"/.exec(unchunked(client.received))![1]!;
      expect(whole).to.have.length(3 * MEGABYTES * 1_000_000 - 1);
      expect(whole.endsWith('Six. Six.')).to.equal(true);
      client.destroy();
    });

    it('of 100 at once none keeps another from being served', async () => {
      const payers = await Promise.all(Array.from({ length: 25 }, () => fixture.server.customer(12)));
      const clients = await Promise.all(
        Array.from({ length: 100 }, (_, n) => unread(THREE_MINUTES, payers[n % 25]!.key)),
      );
      await until(() => fixture.server.logs.filter(({ status }) => status === 200).length === 100);
      expect(fixture.server.engine).to.include({ running: 0, admitted: 0 });
      for (const payer of payers) expect(await fixture.server.balance(payer)).to.equal(0);
      expect(joinedDeltas(await (await fixture.open()).rest())).to.equal('One. Two. Three.');
      for (const client of clients) {
        client.socket.resume();
        await client.until(/\r\n0\r\n\r\n$/);
        expect(deltasOf(client)).to.equal('One. Two. Three.');
        client.destroy();
      }
    });
  });

  describe('a client that leaves', () => {
    beforeEach(() => fixture.start());
    /** Hangs up when it has read so many pieces. */
    async function leave(pieces: number, sent: SentStream = {}): Promise<void> {
      const controller = new AbortController();
      const reader = await fixture.listening(pieces, { ...sent, signal: controller.signal });
      controller.abort();
      await reader.rest().catch(() => undefined);
      await until(() => fixture.hasLogged(499));
    }

    for (const [pieces, minutes] of [
      [1, 1],
      [2, 2],
      [3, 3],
    ] as const) {
      it(`pays for the ${minutes} minutes that it received`, async () => {
        await leave(pieces);
        expect(fixture.server.engine.running).to.equal(0);
        expect([await fixture.spent(), await fixture.usedMinutes()]).to.deep.equal([minutes, minutes]);
        expect((await fixture.server.ledger.history.report(fixture.customer.account.id, 1)).byEndpoint).to.deep.equal([
          { endpoint: PATH, minutes },
        ]);
        const [entry] = await fixture.server.ledger.history.charged(fixture.customer.account.id, {
          ...{ limit: 1, before: null },
        });
        expect(entry).to.include({ minutes, model: 'fake' });
      });
    }

    it('pays for started minutes, never for more than was held', async () => {
      await leave(1, { file: fakeAudio(61, { text: 'One.|Two.' }) });
      expect(await fixture.spent()).to.equal(1);
      fixture.server.logs.length = 0;
      await leave(2, { file: fakeAudio(61, { text: 'One.|Two.' }) });
      expect(await fixture.spent()).to.equal(3);
    });

    it('pays nothing before it received anything, heartbeats aside', async () => {
      fixture.server.engine.holdAll();
      const controller = new AbortController();
      const opening = fixture.open({ signal: controller.signal });
      await fixture.server.engine.untilRunning(1);
      fixture.timers.pass(HEARTBEAT_MS);
      expect((await (await opening).next())?.event).to.equal(null);
      controller.abort();
      await until(() => fixture.hasLogged(499));
      expect(await fixture.spent()).to.equal(0);
    });

    it('by the end of its side, too', async () => {
      fixture.server.engine.holdAll(1);
      const client = await RawClient.open(fixture.server);
      client.send(upload(THREE_MINUTES, fixture.customer.key));
      await client.until(/"delta":"One\."/);
      client.socket.end();
      await until(() => fixture.hasLogged(499));
      expect(await fixture.spent()).to.equal(1);
    });

    it('has its key revoked: it gets that error, and pays as much', async () => {
      const reader = await fixture.listening(2);
      await fixture.server.asCli((ledger) => ledger.keys.revoke(fixture.customer.account.id, fixture.customer.key.id));
      fixture.timers.pass(250);
      const end = last(await reader.rest());
      expect(end).to.deep.include({ event: 'error' });
      expect(end.data['error']).to.include({ code: 'invalid_api_key' });
      await until(() => fixture.server.uploads().length === 0);
      expect([await fixture.spent(), await fixture.usedMinutes()]).to.deep.equal([2, 2]);
    });

    it('has its key revoked just before the charge: it pays for what it received', async () => {
      const reader = await fixture.listening(3);
      await fixture.server.asCli((ledger) => ledger.keys.revoke(fixture.customer.account.id, fixture.customer.key.id));
      fixture.server.engine.release();
      expect(last(await reader.rest()).data['error']).to.include({ code: 'invalid_api_key' });
      await until(() => fixture.server.uploads().length === 0);
      expect([await fixture.spent(), await fixture.usedMinutes()]).to.deep.equal([3, 3]);
    });

    it('has its key revoked before it received anything: nothing is charged', async () => {
      fixture.server.engine.holdAll();
      const answer = fixture.post();
      await fixture.server.engine.untilRunning(1);
      await fixture.server.asCli((ledger) => ledger.keys.revoke(fixture.customer.account.id, fixture.customer.key.id));
      fixture.timers.pass(250);
      const { status, headers } = await answer;
      expect([status, headers.get('content-type')]).to.deep.equal([401, 'application/json; charset=utf-8']);
      expect(await fixture.spent()).to.equal(0);
    });

    it('and asks again is a new request', async () => {
      const all = [{}, { 'x-stainless-retry-count': '1' }, { 'idempotency-key': 'once' }];
      for (const [n, headers] of all.entries()) {
        const before = await fixture.spent();
        const file = fakeAudio(180, { text: `One.|Two.|Number ${n}.` });
        await leave(1, { file, headers });
        fixture.server.logs.length = 0;
        fixture.server.engine.release();
        const reader = await fixture.open({ file, headers });
        expect(reader.response.headers.get('idempotency-replayed')).to.equal(null);
        expect(joinedDeltas(await reader.rest())).to.equal(`One. Two. Number ${n}.`);
        expect((await fixture.spent()) - before).to.equal(4);
      }
    });
  });

  describe('a repeat', () => {
    beforeEach(() => fixture.start());

    it('of one that was sent to its end, but did not arrive, is what was paid for', async () => {
      const proxy = await CuttingProxy.start(fixture.server, [{ resetAt: 'transcript.text.done' }]);
      await fixture
        .open({ to: proxy })
        .then((reader) => reader.rest())
        .catch(() => undefined);
      await proxy.close();
      expect(await fixture.spent()).to.equal(3);
      const reader = await fixture.open();
      expect(reader.response.headers.get('idempotency-replayed')).to.equal('true');
      const events = await reader.rest();
      expect(joinedDeltas(events)).to.equal('One. Two. Three.');
      expect(last(events).data).to.include({ text: 'One. Two. Three.', credits_used: 3 });
      expect(await fixture.spent()).to.equal(3);
      expect((await fixture.open()).response.headers.get('idempotency-replayed')).to.equal(null);
    });

    it('by a key may have it in the other form', async () => {
      const headers = { 'idempotency-key': 'once' };
      const first = await (await fixture.open({ headers })).rest();
      const body = form([
        ['file', THREE_MINUTES],
        ['model', 'whisper-1'],
      ]);
      const init = { method: 'POST', headers: { ...bearer(fixture.customer.key), ...headers }, body };
      const whole = await call(fixture.server, PATH, init);
      expect(whole.headers.get('idempotency-replayed')).to.equal('true');
      expect(whole.body['text']).to.equal(joinedDeltas(first));
      const again = await (await fixture.open({ headers })).rest();
      expect(again).to.have.length(2);
      expect(last(again)).to.deep.equal(last(first));
      expect(await fixture.spent()).to.equal(3);
    });
  });
});
