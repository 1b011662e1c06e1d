/** Another process keeps the database locked for as long as it likes: the server serves, and charges when it can. */
import { Database } from '../../src/ledger/sqlite/driver.js';
import { join } from 'node:path';
import { expect } from 'chai';
import { call, transcribe } from '../support/requests.js';
import { bearer, TestServer, type Customer } from '../support/server.js';
import { until } from '../support/until.js';

describe('a database that another process keeps locked', () => {
  let server: TestServer;
  let customer: Customer;
  let other: Database;

  beforeEach(async () => {
    server = await TestServer.start();
    customer = await server.customer(100);
    other = new Database(join(server.directory, 'verbatim.db'));
  });
  afterEach(async () => {
    other.close();
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  it('refuses new work with 503 and Retry-After, and leaves nothing behind', async () => {
    other.exec('BEGIN IMMEDIATE');
    const refused = await transcribe(server, { key: customer.key });
    expect(refused.status, refused.text).to.equal(503);
    expect(refused.error?.code).to.equal('overloaded');
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(server.uploads()).to.deep.equal([]);
    const key = { headers: bearer(customer.managementKey) };
    const created = await call(server, '/api/v1/keys', {
      method: 'POST',
      headers: { ...key.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'new' }),
    });
    expect(created.error?.code).to.equal('overloaded');
    expect((await call(server, '/readyz')).status).to.equal(503);
    other.exec('COMMIT');
    expect((await transcribe(server, { key: customer.key })).status).to.equal(200);
    expect(await server.balance(customer)).to.equal(99);
  });

  it('answers others while finished work waits for its charge, and then charges it', async () => {
    server.engine.holdAll();
    const running = transcribe(server, { key: customer.key, headers: { 'idempotency-key': 'k' } });
    await server.engine.untilRunning(1);
    other.exec('BEGIN IMMEDIATE');
    server.engine.release();
    await until(() => server.engine.running === 0);
    // The lock is let go only after these are answered: a server that stood still would never answer.
    for (let n = 0; n < 20; n += 1) {
      expect((await call(server, '/healthz')).status).to.equal(200);
      const me = await call(server, '/api/v1/me', { headers: bearer(customer.key) });
      expect(me.body).to.have.nested.property('credits.balance', 99);
    }
    other.exec('COMMIT');
    const answer = await running;
    expect(answer.status, answer.text).to.equal(200);
    expect(await server.balance(customer)).to.equal(99);
    expect((await server.ledger.history.report(customer.account.id, 1)).totalCredits).to.equal(1);
  });
});
