import { expect } from 'chai';
import { VerbatimApiError, type VerbatimClient } from '../../../src/client/index.js';
import { TEXTS } from '../../../src/http/dashboard/texts.js';
import { transcribe, call } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

describe('administration over HTTP', () => {
  let server: TestServer;
  let client: VerbatimClient;
  let own: Customer;
  let ann: Customer;
  let adminKey: { rawKey: string };

  beforeEach(async () => {
    server = await TestServer.start();
    own = await server.customer(0);
    ann = await server.customer(100);
    adminKey = await server.ledger.keys.create({
      accountId: own.account.id,
      name: 'billing',
      scopes: ['admin'],
    });
    client = server.client(adminKey);
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'answered',
      (error: unknown) => (error instanceof VerbatimApiError ? error.code : error),
    );

  it('is for keys with the scope admin alone', async () => {
    const { id } = ann.account;
    const paths: [string, string][] = [
      ['GET', '/accounts'],
      ['POST', '/accounts'],
      ['GET', `/accounts/${id}`],
      ['DELETE', `/accounts/${id}`],
      ['POST', `/accounts/${id}/suspend`],
      ['POST', `/accounts/${id}/resume`],
      ['GET', `/accounts/${id}/export`],
      ['POST', `/accounts/${id}/credits`],
      ['GET', '/usage'],
    ];
    for (const [method, path] of paths) {
      for (const key of [ann.key, ann.managementKey]) {
        const init = { method, headers: { ...bearer(key), 'content-type': 'application/json' } };
        const { status, error } = await call(server, `/api/v1/admin${path}`, init);
        expect({ status, code: error?.code }, `${method} ${path}`).to.deep.equal({
          ...{ status: 403, code: 'insufficient_scope' },
        });
      }
      expect((await call(server, `/api/v1/admin${path}`, { method })).status).to.equal(401);
    }
    expect(await server.balance(ann)).to.equal(100);
  });

  it('makes, lists and reports accounts, in pages', async () => {
    const made = await client.admin.createAccount({ email: 'New@example.com', name: 'New' });
    expect(made).to.include({ email: 'new@example.com', name: 'New', role: 'user', credits: 0 });
    expect(await client.admin.account(made.id)).to.deep.equal(made);
    expect(await codeOf(client.admin.createAccount({ email: 'new@example.com' }))).to.equal('invalid_request');
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await client.admin.listAccounts({ limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.accounts.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(seen).to.have.members([own.account.id, ann.account.id, made.id]).and.have.length(3);
    expect(await codeOf(client.admin.account('acc_none'))).to.equal('account_not_found');
    expect(await codeOf(client.admin.listAccounts({ cursor: 'x' }))).to.equal('invalid_request');
  });

  it('grants credits once a payment', async () => {
    const { id } = ann.account;
    const paid = { amount: 7, paymentId: 'pay_1', expiresAt: '2999-12-31' };
    const pack = await client.admin.grantCredits(id, paid);
    expect(pack).to.include({ account_id: id, purchased: 7, payment_id: 'pay_1' });
    expect(await client.admin.grantCredits(id, paid)).to.deep.equal(pack);
    const headers = { ...bearer(adminKey), 'content-type': 'application/json' };
    const body = JSON.stringify({ amount: 7, payment_id: 'pay_1' });
    const again = await call(server, `/api/v1/admin/accounts/${id}/credits`, {
      method: 'POST',
      headers,
      body,
    });
    expect([again.status, again.headers.get('idempotency-replayed')]).to.deep.equal([200, 'true']);
    expect(await server.balance(ann)).to.equal(107);
    expect(await codeOf(client.admin.grantCredits(id, { ...paid, amount: 8 }))).to.equal('idempotency_conflict');
    expect(await codeOf(client.admin.grantCredits(id, { amount: 0 }))).to.equal('invalid_request');
    expect(await codeOf(client.admin.grantCredits('acc_none', { amount: 1 }))).to.equal('account_not_found');
  });

  it('suspends, with what is in flight, and resumes', async () => {
    const { id } = ann.account;
    server.engine.holdAll();
    const running = transcribe(server, { key: ann.key });
    await server.engine.untilRunning(1);
    expect((await client.admin.suspend(id)).suspended_at).to.be.a('string');
    expect((await running).error?.code).to.equal('invalid_api_key');
    const refused = await call(server, '/api/v1/me', { headers: bearer(ann.key) });
    expect([refused.status, refused.error?.code]).to.deep.equal([403, 'account_suspended']);
    expect(await server.balance(ann)).to.equal(100);
    expect((await client.admin.resume(id)).suspended_at).to.equal(null);
    server.engine.release();
    expect((await transcribe(server, { key: ann.key })).status).to.equal(200);
    expect(await codeOf(client.admin.suspend(own.account.id))).to.equal('invalid_request');
  });

  it('exports and deletes', async () => {
    const { id, email } = ann.account;
    await transcribe(server, { key: ann.key, headers: { 'idempotency-key': 'k' } });
    const reported = await client.admin.exportAccount(id);
    expect(reported).to.have.nested.property('account.email', email);
    expect(reported).to.have.nested.property('answers[0].idempotency_key', 'k');
    expect(await client.admin.deleteAccount(id)).to.deep.equal({ id, deleted: true });
    expect(await codeOf(client.admin.exportAccount(id))).to.equal('account_not_found');
    expect((await call(server, '/api/v1/me', { headers: bearer(ann.key) })).status).to.equal(401);
    const usage = await client.admin.usage({ accountId: id });
    expect(usage.usage.map((row) => [row.email, row.credits])).to.deep.equal([[null, 1]]);
    expect(await codeOf(client.admin.deleteAccount(own.account.id))).to.equal('invalid_request');
  });

  it('writes what it does into the operators’ log: whose key, about whom, how much, and whether it was done', async () => {
    const { id, email } = ann.account;
    const { email: operator } = own.account;
    const { id: nia } = await client.admin.createAccount({ email: 'nia@example.com' });
    await codeOf(client.admin.createAccount({ email: 'nia@example.com' }));
    for (let time = 0; time < 2; time++) await client.admin.grantCredits(id, { amount: 7, paymentId: 'pay_1' });
    await codeOf(client.admin.grantCredits(id, { amount: 0 }));
    await codeOf(client.admin.suspend(own.account.id));
    await client.admin.suspend(id);
    await client.admin.resume(id);
    await client.admin.exportAccount(id);
    await codeOf(client.admin.deleteAccount(own.account.id));
    await client.admin.deleteAccount(nia);
    // Reading is no action.
    await client.admin.listAccounts();
    await client.admin.usage();
    const noted = await server.ledger.operators.list({ limit: 50, before: null });
    expect(
      noted.map((entry) => [entry.email, entry.action, entry.subjectEmail, entry.detail, entry.outcome]).reverse(),
    ).to.deep.equal([
      [operator, 'account-made', null, null, 'done'],
      [operator, 'account-made', null, null, 'refused'],
      [operator, 'granted', email, '7', 'done'],
      [operator, 'granted', email, '7', 'refused'],
      [operator, 'granted', email, '0', 'refused'],
      [operator, 'suspended', operator, null, 'refused'],
      [operator, 'suspended', email, null, 'done'],
      [operator, 'resumed', email, null, 'done'],
      [operator, 'exported', email, null, 'done'],
      [operator, 'account-deleted', operator, null, 'refused'],
      [operator, 'account-deleted', null, null, 'done'],
    ]);
    expect(noted.at(-1)?.subject).to.equal(nia);
    for (const { action } of noted) expect(TEXTS.operators.actions).to.have.property(action);
  });

  it('reports usage of all accounts, in pages and as CSV', async () => {
    const formula = await server.ledger.accounts.create({ email: '=1+1,"x"@example.com' });
    await server.ledger.credits.grant({ accountId: formula.id, amount: 9 });
    const key = await server.ledger.keys.create({ accountId: formula.id, name: 'k', scopes: [] });
    for (const one of [ann.key, key]) await transcribe(server, { key: one });
    const today = new Date().toISOString().slice(0, 10);
    const whole = await client.admin.usage({ from: today, to: today });
    expect(whole.usage).to.have.length(2);
    const first = await client.admin.usage({ from: today, to: today, limit: 1 });
    const cursor = String(first.next_cursor);
    const second = await client.admin.usage({ from: today, to: today, limit: 1, cursor });
    expect([...first.usage, ...second.usage]).to.deep.equal(whole.usage);
    expect(second.next_cursor).to.equal(null);
    const lines = (await client.admin.usageCsv({ from: today, to: today })).split('\r\n');
    expect(lines[0]).to.equal('date,account_id,email,endpoint,requests,minutes,credits');
    expect(lines).to.include(`${today},${formula.id},"'=1+1,""x""@example.com",/api/v1/transcribe,1,1,1`);
    expect(lines).to.have.length(4);
    for (const query of ['from=x', 'to=2026-02-30', 'account_id=x', 'format=xml', 'format=csv&limit=1', 'limit=0']) {
      const answer = await call(server, `/api/v1/admin/usage?${query}`, { headers: bearer(adminKey) });
      expect([answer.status, answer.error?.param], query).to.deep.equal([400, query.split('&').at(-1)!.split('=')[0]]);
    }
  });
});
