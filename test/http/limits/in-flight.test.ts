/** What ends a request before its time: hang-ups, revoked keys, time-outs, a server that goes down. */
import { statSync } from 'node:fs';
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, PART_END, PART_HEAD, RawClient, transcribe, uploadHead } from '../../support/requests.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

describe('requests in flight', () => {
  const settings = { uploadIdleMs: 300, jsonTimeoutMs: 400, requestTimeoutMs: 1500 };
  let timers: ManualTimers;
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    timers = new ManualTimers();
    server = await TestServer.start({ settings, timers });
    customer = await server.customer(100);
    server.engine.holdAll();
  });
  afterEach(() => server.dispose());

  /** No time passes meanwhile but what the test lets pass: nothing waits for a time-out to be cleared away. */
  async function expectNothingLeft(): Promise<void> {
    const { engine } = server;
    await until(() => engine.running === 0 && engine.admitted === 0 && engine.openFiles === 0);
    await until(() => server.uploads().length === 0);
    expect(await server.balance(customer)).to.equal(100);
    expect((await server.ledger.history.report(customer.account.id, 1)).totalCredits).to.equal(0);
    expect(await server.ledger.audit()).to.deep.equal([]);
    await until(async () => {
      const { text } = await call(server, '/metrics');
      return text.includes('\nverbatim_requests_in_flight 0\n');
    });
  }

  const AUDIO = fakeAudio(3).toString();
  const bytesOnDisk = (): number =>
    server.uploads().reduce((sum, path) => sum + statSync(path, { throwIfNoEntry: false })!.size, 0);

  /** A raw upload that stopped in the middle of the file, once all it sent has arrived. */
  async function halfAnUpload(): Promise<RawClient> {
    const client = await RawClient.open(server);
    client.send(uploadHead(customer.key, { length: 1_000_000 }) + PART_HEAD + AUDIO);
    await until(() => bytesOnDisk() === AUDIO.length);
    // They are there a moment before the server is notified, and waits for more.
    await timers.untilWaiting(settings.uploadIdleMs);
    return client;
  }

  /** Has been answered, as has what came before it on other connections. */
  async function roundTrip(): Promise<void> {
    expect((await call(server, '/healthz')).status).to.equal(200);
  }

  describe('a client that hangs up', () => {
    it('during the upload', async () => {
      (await halfAnUpload()).destroy();
      await expectNothingLeft();
    });

    it('during the upload, politely', async () => {
      const client = await halfAnUpload();
      client.socket.end();
      const { status, error } = await client.answer();
      expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
      await expectNothingLeft();
    });

    it('before the upload, while the ledger is asked', async () => {
      const { ledger } = server;
      let asked = false;
      let answer = (): void => undefined;
      const gate = new Promise<void>((resolve) => (answer = resolve));
      const stateOf = ledger.holds.state.bind(ledger);
      ledger.holds.state = async (accountId) => {
        asked = true;
        await gate;
        return stateOf(accountId);
      };
      const client = await RawClient.open(server);
      client.send(uploadHead(customer.key, { length: 1000 }));
      await until(() => asked);
      client.destroy();
      // Only the one that asks for the metrics is still connected.
      await until(async () => (await call(server, '/metrics')).text.includes('\nverbatim_connections 1\n'));
      ledger.holds.state = stateOf;
      answer();
      await until(() => server.logs.some((line) => line['route'] === '/api/v1/transcribe'));
      await expectNothingLeft();
    });

    it('during inference', async () => {
      const controller = new AbortController();
      const running = transcribe(server, { key: customer.key, signal: controller.signal }).catch(() => null);
      await server.engine.untilRunning(1);
      controller.abort();
      await running;
      await expectNothingLeft();
      expect(server.logs.find((line) => line['route'] === '/api/v1/transcribe')).to.include({ status: 499 });
    });

    it('with an Idempotency-Key, which is free again', async () => {
      const headers = { 'idempotency-key': 'k' };
      const controller = new AbortController();
      const { signal } = controller;
      const running = transcribe(server, { key: customer.key, headers, signal }).catch(() => null);
      await server.engine.untilRunning(1);
      controller.abort();
      await running;
      await expectNothingLeft();
      server.engine.release();
      expect((await transcribe(server, { key: customer.key, headers })).status).to.equal(200);
    });
  });

  const revocations: [string, () => Promise<void>][] = [
    [
      'over HTTP',
      async () => {
        const init = { method: 'DELETE', headers: bearer(customer.managementKey) };
        expect((await call(server, `/api/v1/keys/${customer.key.id}`, init)).status).to.equal(200);
      },
    ],
    [
      'by another process',
      async () => {
        await server.asCli((ledger) => ledger.keys.revoke(customer.account.id, customer.key.id));
        timers.pass(1000);
        return Promise.resolve();
      },
    ],
    [
      'with its account, which another process has suspended,',
      async () => {
        await server.asCli(({ administration }) => administration.suspend(customer.account.id));
        timers.pass(1000);
      },
    ],
  ];
  for (const [how, revoke] of revocations) {
    describe(`a key revoked ${how} is answered 401 within a second`, () => {
      it('during the upload', async () => {
        const client = await halfAnUpload();
        await revoke();
        const { status, error, head } = await client.answer();
        expect({ status, code: error.code }).to.deep.equal({ status: 401, code: 'invalid_api_key' });
        expect(head).to.match(/\r\nWWW-Authenticate: Bearer\r\n/i);
        await expectNothingLeft();
        client.destroy();
      });

      it('while queued and during inference, the other key’s request going on', async () => {
        // Two of these run in the slots of the engine, the third waits.
        const doomed = [1, 2, 3].map(() => transcribe(server, { key: customer.key }));
        await server.engine.untilRunning(3);
        expect(server.engine.stats()).to.include({ busySlots: 2, queuedWindows: 1 });
        const other = await server.customer();
        const spared = transcribe(server, { key: other.key });
        await server.engine.untilRunning(4);
        await revoke();
        const answers = await Promise.all(doomed);
        for (const { status, error } of answers) {
          expect({ status, code: error?.code }).to.deep.equal({ status: 401, code: 'invalid_api_key' });
        }
        server.engine.release();
        expect((await spared).status).to.equal(200);
        await expectNothingLeft();
      });
    });
  }

  it('a management key that revokes itself gets its answer', async () => {
    const { id } = customer.managementKey;
    const running = transcribe(server, { key: customer.managementKey });
    await server.engine.untilRunning(1);
    const init = { method: 'DELETE', headers: bearer(customer.managementKey) };
    const revoked = await call(server, `/api/v1/keys/${id}`, init);
    expect(revoked.status).to.equal(200);
    expect((await running).status).to.equal(401);
    expect((await call(server, `/api/v1/keys/${id}`, init)).status).to.equal(401);
  });

  it('an upload that stands still is cut', async () => {
    const client = await halfAnUpload();
    timers.pass(299);
    await roundTrip();
    expect(client.received).to.equal('');
    timers.pass(1);
    const { status, error } = await client.answer();
    expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
    expect(error.message).to.equal('The upload made no progress for 0.3 s.');
    await expectNothingLeft();
    client.destroy();
  });

  it('an upload that drips goes on, until the request’s time is over', async () => {
    const client = await halfAnUpload();
    for (let drops = 1; drops <= 5; drops++) {
      timers.pass(299);
      client.send('x');
      await until(() => bytesOnDisk() === AUDIO.length + drops);
    }
    expect(client.received).to.equal('');
    timers.pass(5);
    const { status, error, head } = await client.answer();
    expect({ status, code: error.code }).to.deep.equal({ status: 503, code: 'overloaded' });
    expect(head).to.match(/\r\nRetry-After: \d+\r\n/i);
    await expectNothingLeft();
    client.destroy();
  });

  it('a JSON body that drips is cut', async () => {
    const client = await RawClient.open(server);
    const { rawKey } = customer.managementKey;
    client.send(
      `POST /api/v1/keys HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${rawKey}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":"',
    );
    await timers.untilWaiting(400);
    for (let drops = 1; drops <= 3; drops++) {
      timers.pass(133);
      client.send('x');
      await roundTrip();
    }
    expect(client.received).to.equal('');
    timers.pass(1);
    const { status, error } = await client.answer();
    expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
    expect(error.message).to.equal('The body did not arrive within 0.4 s.');
    client.destroy();
    expect(await server.ledger.keys.list(customer.account.id)).to.have.length(2);
  });

  /** Node's own clock, which no test turns: it is waited for, however long it takes. */
  describe('what Node’s parser waits for', () => {
    const withTimeouts = async (receiveTimeoutMs: number, headersTimeoutMs: number): Promise<TestServer> =>
      TestServer.start({ settings: { receiveTimeoutMs, headersTimeoutMs } });

    it('headers that drip are cut', async () => {
      const other = await withTimeouts(300, 300);
      const client = await RawClient.open(other);
      client.send('GET /api/v1/me HTTP/1.1\r\nX-Drip: ');
      const dripping = setInterval(() => client.send('x'), 20);
      const { status, error } = await client.answer();
      clearInterval(dripping);
      expect({ status, code: error.code }).to.deep.equal({ status: 400, code: 'invalid_request' });
      client.destroy();
      await other.dispose();
    });

    it('a body that nobody waits for is cut as well', async () => {
      const other = await withTimeouts(3000, 3000);
      const client = await RawClient.open(other);
      client.send('GET /healthz HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\n\r\n');
      expect((await client.until(/^HTTP\/1\.1 (\d+)/))[1]).to.equal('200');
      const dripping = setInterval(() => client.send('x'), 50);
      await until(() => client.closed);
      clearInterval(dripping);
      await other.dispose();
    });
  });

  describe('draining', () => {
    it('lets running requests finish, an upload among them', async () => {
      const client = await RawClient.open(server);
      const body = PART_HEAD + fakeAudio(3).toString() + PART_END;
      client.send(uploadHead(customer.key, { length: body.length }) + body.slice(0, 150));
      const running = transcribe(server, { key: customer.key });
      await server.engine.untilRunning(1);
      await until(() => server.uploads().length === 2);
      const closed = server.close(5000);
      const ready = await call(server, '/readyz');
      expect(ready.status).to.equal(503);
      expect(ready.body).to.deep.include({ status: 'unavailable' });
      expect((await call(server, '/healthz')).status).to.equal(200);
      client.send(body.slice(150));
      server.engine.release();
      expect((await running).status).to.equal(200);
      await client.until(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n/i);
      await closed;
      const refused = await fetch(`${server.url}/healthz`).catch(() => null);
      expect(refused).to.equal(null);
      expect(await server.balance(customer)).to.equal(98);
    });

    it('aborts those that take too long, uncharged', async () => {
      const running = transcribe(server, { key: customer.key });
      await server.engine.untilRunning(1);
      const closed = server.close(50);
      timers.pass(49);
      await roundTrip();
      expect(server.engine.running).to.equal(1);
      timers.pass(1);
      const { status, error, headers } = await running;
      expect({ status, code: error?.code }).to.deep.equal({ status: 503, code: 'shutting_down' });
      expect(headers.get('retry-after')).to.match(/^[1-9]\d*$/);
      await closed;
      expect(await server.balance(customer)).to.equal(100);
      expect(await server.ledger.audit()).to.deep.equal([]);
      expect(server.engine).to.include({ openFiles: 0, admitted: 0, running: 0 });
    });

    it('is done at once when nothing runs, idle connections or not', async () => {
      const client = await RawClient.open(server);
      client.send('GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n');
      await client.until(/^HTTP\/1\.1 200/);
      await server.close(10_000);
      await until(() => client.closed);
    });
  });
});
