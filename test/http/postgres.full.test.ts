/** The real server on PostgreSQL: what clients see of it, of a second node, and of a database that goes away. */
import { expect } from 'chai';
import { createPostgresLedger } from '../../src/ledger/postgres/ledger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { REVOCATION_LOOK_MS } from '../../src/http/auth/revocation-watch.js';
import { systemTimers } from '../../src/timers.js';
import { POSTGRESQL, type Place } from '../ledger/backends.js';
import { endedJob, postJob } from '../support/jobs.js';
import { ManualTimers } from '../support/manual-timers.js';
import { Network } from '../support/network.js';
import { DATABASE_PASSWORD, PostgresCluster, sharedCluster } from '../support/postgres-cluster.js';
import { call, RawClient, transcribe, uploadHead, type Answer } from '../support/requests.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

const SECRET = 'a secret for the tests';

const ledgerAt = (url: string): Promise<Ledger> => createPostgresLedger({ url, secret: SECRET });

describe('a server on PostgreSQL', () => {
  let place: Place;
  let server: TestServer;
  let customer: Customer;

  beforeEach(async () => {
    place = await POSTGRESQL.place();
    server = await TestServer.start({ ledger: await ledgerAt(place.address) });
    customer = await server.customer(100);
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
    await place.remove();
  });

  it('transcribes, charges once for a repeat, makes and revokes keys, and says that it is ready', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await transcribe(server, { key: customer.key, headers });
    expect(first.status, first.text).to.equal(200);
    const again = await transcribe(server, { key: customer.key, headers });
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    expect(await server.balance(customer)).to.equal(99);
    const management = { ...bearer(customer.managementKey), 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'laptop' });
    const made = await call(server, '/api/v1/keys', { method: 'POST', headers: management, body });
    expect(made.status, made.text).to.equal(201);
    const revoked = await call(server, `/api/v1/keys/${String(made.body['id'])}`, {
      method: 'DELETE',
      headers: management,
    });
    expect(revoked.status, revoked.text).to.equal(200);
    const refused = await transcribe(server, { key: { rawKey: String(made.body['raw_key']) } });
    expect(refused.error?.code).to.equal('invalid_api_key');
    const ready = await call(server, '/readyz');
    expect(ready.status, ready.text).to.equal(200);
    expect(ready.text).not.to.contain(DATABASE_PASSWORD);
    const nowhere = await call(server, '/api/v1/jobs/%00', { headers: bearer(customer.key) });
    expect(nowhere.status).to.equal(404);
  });

  it('does jobs', async () => {
    const { body, status } = await postJob(server, customer.key);
    expect(status).to.equal(202);
    expect(await endedJob(server, customer.key, String(body['id']))).to.include({ status: 'succeeded' });
    expect(await server.balance(customer)).to.equal(99);
  });

  it('ends the requests of a key that another node revokes on its notification, without polling', async () => {
    // Its own clock stands still, so that it never looks by itself.
    const node = await TestServer.start({ ledger: await ledgerAt(place.address), timers: new ManualTimers() });
    try {
      node.engine.holdAll();
      const running = transcribe(node, { key: customer.key });
      await node.engine.untilRunning(1);
      await call(server, `/api/v1/keys/${customer.key.id}`, {
        method: 'DELETE',
        headers: bearer(customer.managementKey),
      });
      const answer = await running;
      expect(answer.status, answer.text).to.equal(401);
      expect(answer.error?.code).to.equal('invalid_api_key');
      expect(await server.balance(customer)).to.equal(100);
    } finally {
      await node.dispose();
    }
  });

  it('ends them by polling when the database cannot notify it', async () => {
    // Its connection that listens is not made again either, since its clock stands still.
    const ledger = await createPostgresLedger({
      url: place.address,
      secret: SECRET,
      timers: new ManualTimers(),
    });
    const timers = new ManualTimers();
    const node = await TestServer.start({ ledger, timers });
    try {
      node.engine.holdAll();
      const running = transcribe(node, { key: customer.key });
      await node.engine.untilRunning(1);
      const reported: string[] = [];
      ledger.keys.onRevoked((id) => reported.push(id));
      const listening = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
      await place.rows(`SELECT pg_terminate_backend(pid) ${listening}`);
      await until(async () => (await place.rows(`SELECT 1 ${listening}`)).length <= 1);
      await call(server, `/api/v1/keys/${customer.key.id}`, {
        method: 'DELETE',
        headers: bearer(customer.managementKey),
      });
      timers.pass(REVOCATION_LOOK_MS);
      expect((await running).error?.code).to.equal('invalid_api_key');
      expect(reported).to.deep.equal([]);
    } finally {
      await node.dispose();
    }
  });

  it('limits the credits of an account over its nodes', async () => {
    const node = await TestServer.start({ ledger: await ledgerAt(place.address) });
    try {
      const poor = await server.customer(7);
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, n) => transcribe(n % 2 === 0 ? server : node, { key: poor.key })),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([
        ...Array<number>(7).fill(200),
        ...Array<number>(9).fill(402),
      ]);
    } finally {
      await node.dispose();
    }
  });

  it('limits the requests that an account has in flight over its nodes', async () => {
    const settings = { maxInFlight: 3 };
    const nodes = await Promise.all(
      Array.from({ length: 2 }, async () => TestServer.start({ ledger: await ledgerAt(place.address), settings })),
    );
    try {
      for (const node of nodes) node.engine.holdAll();
      const answers: Answer[] = [];
      const racing = Array.from({ length: 12 }, async (_, n) => {
        const answer = await transcribe(nodes[n % 2]!, { key: customer.key });
        answers.push(answer);
        return answer;
      });
      await until(() => answers.length === 9, 'all but three are refused');
      for (const { status, error, headers } of answers) {
        expect(status, error?.message).to.equal(429);
        expect(error?.code).to.equal('rate_limited');
        expect(headers.get('retry-after')).to.match(/^[1-9]\d*$/);
      }
      const late = await RawClient.open(nodes[0]!);
      late.send(uploadHead(customer.key, { length: 1000, extra: 'Expect: 100-continue\r\n' }));
      expect((await late.answer()).status, 'its body is not asked for').to.equal(429);
      for (const node of nodes) node.engine.release();
      const done = (await Promise.all(racing)).filter(({ status }) => status === 200);
      expect(done).to.have.length(3);
      expect(await server.balance(customer)).to.equal(97);
      const next = await transcribe(nodes[1]!, { key: customer.key });
      expect(next.status, next.text).to.equal(200);
    } finally {
      for (const node of nodes) await node.dispose();
    }
  });

  it('needs six round trips to the database for a transcription, and two more where it is to be known again', async () => {
    const network = await Network.to((await sharedCluster()).port);
    const url = new URL(place.address);
    url.port = String(network.port);
    const still = new ManualTimers();
    const timers = {
      after: systemTimers.after.bind(systemTimers),
      every: still.every.bind(still),
      now: systemTimers.now.bind(systemTimers),
    };
    const ledger = await createPostgresLedger({ url: url.href, secret: SECRET, timers });
    const node = await TestServer.start({ ledger, timers: new ManualTimers() });
    try {
      const once = async (headers: Record<string, string>): Promise<number> => {
        const before = network.asked;
        expect((await transcribe(node, { key: customer.key, headers })).status).to.equal(200);
        return network.asked - before;
      };
      /** The fewest of three: what the node does by itself when it has started may come between. */
      const asked = async (headers: (n: number) => Record<string, string>): Promise<number> => {
        const counts: number[] = [];
        for (let n = 0; n < 3; n += 1) counts.push(await once(headers(n)));
        return Math.min(...counts);
      };
      await once({}); // the connection is made
      // Key, standing, whether transcripts are kept, balance before it is measured, hold, charge.
      expect(await asked(() => ({}))).to.equal(6);
      const known = (n: number): Record<string, string> => ({ 'idempotency-key': `new ${n}` });
      expect(await asked(known)).to.equal(8);
      expect(await asked(known), 'a repeat').to.equal(4);
    } finally {
      await node.dispose();
      await network.close();
    }
  });

  it('answers 503 with Retry-After while the network to the database is cut, and goes on when it is not', async () => {
    const network = await Network.to((await sharedCluster()).port);
    const address = new URL(place.address);
    address.port = String(network.port);
    const node = await TestServer.start({ ledger: await ledgerAt(address.href) });
    try {
      expect((await transcribe(node, { key: customer.key })).status).to.equal(200);
      const withKey = (key: string): Promise<Answer> =>
        transcribe(node, { key: customer.key, headers: { 'idempotency-key': key } });
      node.engine.holdAll();
      const running = withKey('running');
      await node.engine.untilRunning(1);
      network.cut();
      node.engine.release();
      const refused = await withKey('refused');
      expect(refused.status, refused.text).to.equal(503);
      expect(Number(refused.headers.get('retry-after'))).to.be.at.least(1);
      expect((await call(node, '/readyz')).status).to.equal(503);
      network.heal();
      const done = await running;
      expect(done.status, 'work that was done is charged').to.equal(200);
      await until(async () => (await withKey('refused')).status === 200);
      expect((await withKey('running')).body).to.deep.equal(done.body);
      expect((await withKey('refused')).headers.get('idempotency-replayed')).to.equal('true');
      await until(async () => (await server.balance(customer)) === 97, 'each is charged once');
      expect(JSON.stringify(node.logs)).not.to.contain(DATABASE_PASSWORD);
    } finally {
      await node.dispose();
      await network.close();
    }
  });
});

describe('a server whose PostgreSQL is killed under load', function () {
  this.timeout(180_000);

  it('answers 503 with Retry-After meanwhile, loses nothing, and charges nothing twice', async () => {
    const cluster = await PostgresCluster.start({ fsync: true });
    await cluster.query('CREATE DATABASE ledger');
    const server = await TestServer.start({ ledger: await ledgerAt(cluster.url('ledger')) });
    try {
      const customer = await server.customer(10_000);
      const answers: Answer[] = [];
      let stopped = false;
      const client = async (name: number): Promise<void> => {
        for (let n = 0; !stopped; n++) {
          const headers = { 'idempotency-key': `${name}-${n}` };
          answers.push(await transcribe(server, { key: customer.key, headers }));
        }
      };
      const clients = Array.from({ length: 8 }, (_, name) => client(name));
      const seen = (status: number): number => answers.filter((answer) => answer.status === status).length;
      for (let round = 1; round <= 2; round++) {
        const before = { done: seen(200), refused: seen(503) };
        await until(() => seen(200) > before.done + 10);
        await cluster.kill();
        await until(() => seen(503) > before.refused + 10);
        await cluster.run();
        const after = seen(200);
        await until(() => seen(200) > after + 10);
      }
      stopped = true;
      await Promise.all(clients);
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200, 503]));
      for (const { status, headers, error } of answers.filter((answer) => answer.status === 503)) {
        expect(headers.get('retry-after'), `${status} ${error?.message ?? ''}`).to.match(/^[1-9]\d*$/);
      }
      const left = 10_000 - seen(200);
      await until(async () => (await server.balance(customer)) === left, 'what was owed is given back');
      expect((await server.ledger.history.report(customer.account.id, 1)).totalCredits).to.equal(seen(200));
      expect(await server.ledger.audit()).to.deep.equal([]);
    } finally {
      await server.dispose();
      await cluster.stop();
    }
  });
});
