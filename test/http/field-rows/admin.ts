/** The fields of operators’ requests. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, transcribe, type Answer } from '../../support/requests.js';
import { bearer, type Customer } from '../../support/server.js';
import { type FieldFixture, type FieldRows } from './field-fixture.js';

export function adminRows(fixture: FieldFixture): FieldRows {
  const ask = async (path: string, method = 'GET', body?: object): Promise<Answer> => {
    const { account } = await fixture.server.customer(0);
    const key = await fixture.server.ledger.keys.create({ accountId: account.id, name: 'admin', scopes: ['admin'] });
    const headers = { ...bearer(key), 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return call(fixture.server, `/api/v1/admin${path}`, init);
  };
  const somebody = async (): Promise<string> => (await fixture.server.customer(5)).account.id;
  const grant = async (body: object): Promise<Answer> =>
    ask(`/accounts/${await somebody()}/credits`, 'POST', { amount: 1, ...body });
  const byId = (method: string, end: string, body?: object) => async (): Promise<void> => {
    const id = await somebody();
    expect((await ask(`/accounts/${id}${end}`, method, body)).text).to.contain(id);
    expect((await ask(`/accounts/acc_none${end}`, method, body)).error?.code).to.equal('account_not_found');
  };
  const usedBy = async (count: number): Promise<Customer[]> => {
    const used = [];
    for (let n = 0; n < count; n++) used.push(await fixture.server.customer(5));
    for (const { key } of used) await transcribe(fixture.server, { key, parts: [['audio', fakeAudio(3)]] });
    return used;
  };
  const usage = async (query: string): Promise<Record<string, unknown>[]> =>
    (await ask(`/usage?${query}`)).body['usage'] as Record<string, unknown>[];
  const later = 'from=2999-01-01&to=2999-01-02';
  const ACCOUNTS = '/api/v1/admin/accounts';
  return {
    [`GET ${ACCOUNTS} limit`]: async () => {
      await somebody();
      for (const limit of [1, 2]) {
        expect((await ask(`/accounts?limit=${limit}`)).body['accounts']).to.have.length(limit);
      }
    },
    [`GET ${ACCOUNTS} cursor`]: async () => {
      await somebody();
      const first = (await ask('/accounts?limit=1')).body;
      const second = (await ask(`/accounts?limit=1&cursor=${String(first['next_cursor'])}`)).body;
      expect(second['accounts']).not.to.deep.equal(first['accounts']);
    },
    [`POST ${ACCOUNTS} email`]: async () => {
      expect((await ask('/accounts', 'POST', { email: 'f@example.org' })).body['email']).to.equal('f@example.org');
    },
    [`POST ${ACCOUNTS} name`]: async () => {
      const made = await ask('/accounts', 'POST', { email: 'g@example.org', name: 'G' });
      expect(made.body['name']).to.equal('G');
    },
    [`GET ${ACCOUNTS}/{id} id`]: byId('GET', ''),
    [`DELETE ${ACCOUNTS}/{id} id`]: byId('DELETE', ''),
    [`POST ${ACCOUNTS}/{id}/suspend id`]: byId('POST', '/suspend'),
    [`POST ${ACCOUNTS}/{id}/resume id`]: byId('POST', '/resume'),
    [`GET ${ACCOUNTS}/{id}/export id`]: byId('GET', '/export'),
    [`POST ${ACCOUNTS}/{id}/credits id`]: byId('POST', '/credits', { amount: 1 }),
    [`POST ${ACCOUNTS}/{id}/credits amount`]: async () => {
      for (const amount of [1, 7]) expect((await grant({ amount })).body['purchased']).to.equal(amount);
    },
    [`POST ${ACCOUNTS}/{id}/credits expires_at`]: async () => {
      const { body } = await grant({ expires_at: '2999-12-31' });
      expect(body['expires_at']).to.equal('2999-12-31T00:00:00.000Z');
    },
    [`POST ${ACCOUNTS}/{id}/credits payment_id`]: async () => {
      expect((await grant({ payment_id: 'pay_9' })).status).to.equal(201);
      expect((await grant({ payment_id: 'pay_9' })).error?.code).to.equal('idempotency_conflict');
    },
    'GET /api/v1/admin/usage from': async () => {
      await usedBy(1);
      expect(await usage('')).not.to.have.length(0);
      expect(await usage(later)).to.have.length(0);
      expect((await ask(`/usage?${later}`)).body['from']).to.equal('2999-01-01');
    },
    'GET /api/v1/admin/usage to': async () => {
      await usedBy(1);
      expect(await usage('to=2020-01-01')).to.have.length(0);
    },
    'GET /api/v1/admin/usage account_id': async () => {
      const [one] = await usedBy(2);
      const rows = await usage(`account_id=${one!.account.id}`);
      expect(rows.map((row) => row['email'])).to.deep.equal([one!.account.email]);
    },
    'GET /api/v1/admin/usage format': async () => {
      expect((await ask('/usage?format=csv')).text).to.match(/^date,account_id,/);
    },
    'GET /api/v1/admin/usage limit': async () => {
      await usedBy(2);
      for (const limit of [1, 2]) expect(await usage(`limit=${limit}`)).to.have.length(limit);
    },
    'GET /api/v1/admin/usage cursor': async () => {
      await usedBy(2);
      const { body } = await ask('/usage?limit=1');
      const next = await usage(`limit=1&cursor=${String(body['next_cursor'])}`);
      expect(next).to.have.length(1).and.not.to.deep.equal(body['usage']);
    },
  };
}
