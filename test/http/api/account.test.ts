import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, transcribe, type Answer, type CallInit } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('accounts over HTTP', () => {
  const eve = Date.UTC(2026, 1, 28, 23, 59, 59, 999);
  let now = eve;
  let server: TestServer;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    now = eve;
    customer = await server.customer(100);
  });

  const as = (key: { rawKey: string }, path: string, init: CallInit = {}): Promise<Answer> =>
    call(server, path, { ...init, headers: { ...bearer(key), ...init.headers } });
  const createKey = (name: string): Promise<Answer> =>
    as(customer.managementKey, '/api/v1/keys', {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ name }),
    });

  it('GET /me', async () => {
    const { account, key } = customer;
    const { status, body } = await as(key, '/api/v1/me');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      user: { id: account.id, email: account.email, name: null },
      key: { id: key.id, name: 'plain', prefix: key.rawKey.slice(0, 11) },
      credits: { balance: 100, lifetime_purchased: 100 },
    });
    const named = await server.ledger.accounts.create({ email: 'named@example.com', name: 'Zoë' });
    const itsKey = await server.ledger.keys.create({ accountId: named.id, name: 'k', scopes: [] });
    expect((await server.client(itsKey).me()).user.name).to.equal('Zoë');
  });

  describe('GET /usage', () => {
    it('has every day of the window, today the last; days end at midnight in UTC', async () => {
      await transcribe(server, { key: customer.key, parts: [['audio', fakeAudio(61)]] });
      const { status, body } = await as(customer.key, '/api/v1/usage?days=3');
      expect(status).to.equal(200);
      expect(Object.keys(body)).to.deep.equal([
        'window_days',
        'total_minutes',
        'total_credits',
        'by_day',
        'by_endpoint',
      ]);
      expect(body).to.deep.equal({
        window_days: 3,
        total_minutes: 2,
        total_credits: 2,
        by_day: [
          { date: '2026-02-26', minutes: 0 },
          { date: '2026-02-27', minutes: 0 },
          { date: '2026-02-28', minutes: 2 },
        ],
        by_endpoint: [{ endpoint: '/api/v1/transcribe', minutes: 2 }],
      });
      now += 1;
      const { body: later } = await as(customer.key, '/api/v1/usage?days=2');
      expect(later['by_day']).to.deep.equal([
        { date: '2026-02-28', minutes: 2 },
        { date: '2026-03-01', minutes: 0 },
      ]);
    });

    for (const [query, days] of [
      ['', 30],
      ['?days=1', 1],
      ['?days=90', 90],
      ['?other=x', 30],
    ] as const) {
      it(`"${query}" is ${days} days`, async () => {
        const { body } = await as(customer.key, `/api/v1/usage${query}`);
        expect(body['window_days']).to.equal(days);
        expect(body['by_day']).to.have.length(days);
        expect(body['by_endpoint']).to.deep.equal([]);
      });
    }
  });

  describe('/keys', () => {
    it('makes a plain key that works at once', async () => {
      const { status, body } = await createKey('  Büro 🎙  ');
      expect(status).to.equal(201);
      expect(Object.keys(body)).to.deep.equal(['id', 'name', 'prefix', 'raw_key', 'created_at']);
      expect(body['name']).to.equal('Büro 🎙');
      expect(body['raw_key']).to.match(/^vb_[A-Za-z0-9_-]{43}$/);
      expect(body['prefix']).to.equal((body['raw_key'] as string).slice(0, 11));
      expect(body['created_at']).to.match(ISO);
      const made = { rawKey: body['raw_key'] as string };
      expect((await server.client(made).me()).key).to.include({ name: 'Büro 🎙' });
      expect((await as(made, '/api/v1/keys')).error?.code).to.equal('insufficient_scope');
    });

    for (const name of ['x', 'x'.repeat(100), '🎙'.repeat(100)]) {
      it(`takes a name of ${Array.from(name).length} characters`, async () => {
        expect((await createKey(name)).status).to.equal(201);
      });
    }

    it('takes a JSON body in chunks, and without a charset', async () => {
      const response = await fetch(`${server.url}/api/v1/keys`, {
        method: 'POST',
        headers: { ...bearer(customer.managementKey), 'content-type': 'APPLICATION/JSON' },
        body: new Blob(['{"name":', '"chunks"}']).stream(),
        duplex: 'half',
      });
      expect(response.status).to.equal(201);
    });

    it('lists every key of the account, newest first', async () => {
      await server.customer();
      const { body: made } = await createKey('third');
      await server.ledger.keys.revoke(customer.account.id, customer.key.id);
      const { status, body } = await as(customer.managementKey, '/api/v1/keys');
      expect(status).to.equal(200);
      const keys = body['keys'] as Record<string, unknown>[];
      expect(keys.map(({ id }) => id)).to.deep.equal([made['id'], customer.managementKey.id, customer.key.id]);
      expect(Object.keys(keys[0]!)).to.deep.equal([
        'id',
        'name',
        'prefix',
        'scopes',
        'created_at',
        'last_used_at',
        'revoked_at',
      ]);
      expect(keys[0]).to.deep.include({ scopes: [], last_used_at: null, revoked_at: null });
      expect(keys[1]).to.deep.include({ scopes: ['keys:write'], revoked_at: null });
      expect(keys[1]!['last_used_at']).to.match(ISO);
      expect(keys[2]!['revoked_at']).to.match(ISO);
    });

    it('revokes; a second call returns the first time', async () => {
      const path = `/api/v1/keys/${customer.key.id}`;
      const first = await as(customer.managementKey, path, { method: 'DELETE' });
      const second = await as(customer.managementKey, path, { method: 'DELETE' });
      expect(first.status).to.equal(200);
      expect(Object.keys(first.body)).to.deep.equal(['id', 'revoked_at']);
      expect(first.body['id']).to.equal(customer.key.id);
      expect(first.body['revoked_at']).to.match(ISO);
      expect(second.body).to.deep.equal(first.body);
      expect((await as(customer.key, '/api/v1/me')).error?.code).to.equal('invalid_api_key');
    });

    it('keeps the usage of a revoked key', async () => {
      await transcribe(server, { key: customer.key });
      const management = server.client(customer.managementKey);
      await management.revokeKey(customer.key.id);
      expect((await management.usage()).total_minutes).to.equal(1);
    });
  });
});
