import { expect } from 'chai';
import type { Account } from '../../../src/ledger/types.js';
import { browserOf, buildDashboard, HttpBrowser, rowsOf } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, transcribe } from '../../support/requests.js';
import { until } from '../../support/until.js';
import { bearer, TestServer } from '../../support/server.js';

const LIST = '/dashboard/operator/accounts';

describe('dashboard: the operator’s accounts', () => {
  let server: TestServer;
  let now: number;
  let ann: Account;
  let operator: Account;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 22, 12);
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
    ann = (await server.customer(7)).account;
    operator = await server.ledger.accounts.create({ email: 'op@example.com' });
    await server.ledger.access.setRole(operator.id, 'operator');
    browser = await browserOf(server, operator);
  });
  afterEach(() => server.dispose());

  const balance = async (account = ann): Promise<number> => (await server.ledger.credits.balance(account.id)).balance;
  const roleOf = async (account: Account) => (await server.ledger.accounts.find(account.email))?.role;

  it('are for operators alone: to others there is nothing, and nothing happens', async () => {
    const anns = await browserOf(server, ann);
    expect((await anns.get('/dashboard')).text).not.to.contain(LIST);
    expect((await browser.get('/dashboard')).text).to.contain(LIST);
    const fields = { email: 'new@example.com', amount: '5', role: 'operator' };
    const questions = ['delete', 'role', 'suspend'].map((action) => `${LIST}/${ann.id}/${action}`);
    for (const path of [LIST, `${LIST}/${ann.id}`, ...questions]) {
      const { status, text } = await anns.get(path);
      expect(status, path).to.equal(404);
      expect(text).not.to.contain(operator.email);
      expect((await new HttpBrowser(server).get(path)).status).to.equal(303);
    }
    for (const path of [
      LIST,
      ...['grant', 'role', 'link', 'suspend', 'resume', 'delete'].map((action) => `${LIST}/${ann.id}/${action}`),
    ]) {
      expect((await anns.post(path, fields)).status, path).to.equal(404);
      expect((await browser.post(path, fields, { 'sec-fetch-site': 'same-site' })).status).to.equal(403);
    }
    expect((await anns.get(`${LIST}/${ann.id}/export`)).status).to.equal(404);
    expect(await balance()).to.equal(7);
    expect(await roleOf(ann)).to.equal('user');
    expect(await server.ledger.accounts.find('new@example.com')).to.equal(null);
    await server.ledger.access.setRole(operator.id, 'user');
    expect((await browser.get(LIST)).status, 'a role that was taken counts at once').to.equal(404);
  });

  it('are made, and mistakes are reported', async () => {
    const made = await browser.post(LIST, { email: 'New@Example.com', name: '<b>Nia</b>' });
    expect(made.status).to.equal(303);
    const page = await browser.get(made.location!);
    expect(page.text).to.contain('The account was created.').and.to.contain('&lt;b&gt;Nia');
    const twice = await browser.post(LIST, { email: 'new@example.com', name: '' });
    expect(twice.status).to.equal(400);
    expect(twice.text).to.contain('already an account');
    expect((await browser.get(LIST)).text)
      .to.contain('new@example.com')
      .and.to.contain(ann.email);
  });

  it('are given credits, which their users see', async () => {
    const grant = (fields: Record<string, string>) => browser.post(`${LIST}/${ann.id}/grant`, fields);
    const { location } = await grant({ amount: '500', expires: '2026-12-31' });
    expect((await browser.get(location!)).text).to.contain('The credits were granted.');
    const { text } = await (await browserOf(server, ann)).get('/dashboard');
    expect(text).to.contain('507').and.to.contain('2027-01-01 00:00 UTC');
    for (const fields of [{ amount: '0' }, { amount: '1.5' }, { amount: '-1' }, { amount: 'x' }]) {
      const refused = await grant(fields);
      expect(refused.status, fields.amount).to.equal(400);
      expect(refused.text).to.contain('allowed: an integer');
    }
    const late = await grant({ amount: '1', expires: '2026-11-01', note: 'a gift' });
    expect(late.text)
      .to.match(/id="expires-error" role="alert">The expiry is/)
      .and.to.contain('value="a gift"');
    expect(await balance()).to.equal(507);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  it('are found by a search, which is no markup and has a bound', async () => {
    await server.ledger.accounts.create({ email: 'zoe@example.com', name: 'Zoë Müller' });
    const found = async (search: string): Promise<string[]> =>
      rowsOf((await browser.get(`${LIST}?search=${encodeURIComponent(search)}`)).text).map(([email]) => email!);
    expect(await found('mull')).to.deep.equal(['zoe@example.com']);
    expect(await found('ZOE@')).to.deep.equal(['zoe@example.com']);
    expect(await found(ann.id)).to.deep.equal([ann.email]);
    expect(await found('')).to.have.length(3);
    const none = await browser.get(`${LIST}?search=%3Cb%3E%22nobody`);
    expect(none.text)
      .to.contain('No account matches.')
      .and.to.contain('&lt;b&gt;&quot;nobody')
      .and.not.to.contain('<b>');
    for (const search of ['x'.repeat(255), 'a&search=b']) {
      expect((await browser.get(`${LIST}?search=${search}`)).status, search).to.equal(400);
    }
  });

  it('are shown with their credits, and when they were seen last', async () => {
    now += 5 * 60_000;
    await server.ledger.keys.authenticate(
      (await server.ledger.keys.create({ accountId: ann.id, name: 'k', scopes: [] })).rawKey,
    );
    await browserOf(server, ann);
    now += 3 * 3_600_000;
    const row = rowsOf((await browser.get(LIST)).text).find(([email]) => email === ann.email);
    expect(row?.slice(0, 5).map((cell) => cell.replace(/\s+/g, ' '))).to.deep.equal([
      ...[ann.email, '', 'active', '7', '3 hours ago 2026-11-22 12:05 UTC'],
    ]);
  });

  it('are granted a payment once, with a note that only operators see', async () => {
    const grant = (fields: Record<string, string>) => browser.post(`${LIST}/${ann.id}/grant`, fields);
    const paid = { amount: '500', expires: '', payment: 'pay_7', note: 'Invoice <7>' };
    expect((await grant(paid)).location).to.contain('notice=granted');
    const again = await grant(paid);
    expect((await browser.get(again.location!)).text).to.contain('This payment was granted before. Nothing was added.');
    const { text } = await browser.get(`${LIST}/${ann.id}`);
    expect(rowsOf(text).at(-1)).to.deep.equal([
      ...['2026-11-22 12:00 UTC', 'never', '500', '500', '0', 'pay_7', 'Invoice &lt;7&gt;'],
    ]);
    expect((await (await browserOf(server, ann)).get('/dashboard')).text).not.to.contain('Invoice');
    const conflict = await grant({ ...paid, amount: '9' });
    expect(conflict.status).to.equal(400);
    expect(conflict.text).to.match(/id="payment-error" role="alert">This payment has granted 500 credits/);
    expect((await grant({ ...paid, payment: 'a b' })).text).to.contain('id="payment-error"');
    expect((await grant({ amount: '1', note: 'x'.repeat(201) })).text).to.contain('id="note-error"');
    expect(await balance()).to.equal(507);
    const [noted] = (await server.ledger.operators.list({ limit: 9, before: null })).slice(-1);
    expect(noted).to.include({ action: 'granted', detail: '500, pay_7', outcome: 'done' });
  });

  it('are in the operators’ log: who asked, about whom, how much, and whether it was done', async () => {
    await browser.post(LIST, { email: 'nia@example.com', name: '' });
    await browser.post(LIST, { email: 'nia@example.com', name: '' });
    await browser.post(`${LIST}/${ann.id}/grant`, { amount: '1500', expires: '' });
    await browser.post(`${LIST}/${ann.id}/grant`, { amount: 'many', expires: '' });
    await browser.post(`${LIST}/${operator.id}/suspend`, {});
    await server.ledger.operators.note({ operatorId: null, action: 'key-made', subject: ann.id });
    const { text } = await browser.get('/dashboard/operator/audit');
    expect(rowsOf(text).map((cells) => cells.slice(1))).to.deep.equal([
      ['command line', 'create an API key', ann.email, '', 'unknown'],
      [operator.email, 'suspend the account', operator.email, '', 'refused'],
      [operator.email, 'grant credits', ann.email, '', 'refused'],
      [operator.email, 'grant credits', ann.email, '1,500', 'done'],
      [operator.email, 'create an account', '', '', 'refused'],
      [operator.email, 'create an account', 'nia@example.com', '', 'done'],
    ]);
    expect(text).to.contain(`href="${LIST}/${ann.id}"`).and.to.contain(`href="${LIST}/${operator.id}"`);
    await server.ledger.administration.delete(ann.id);
    const without = (await browser.get('/dashboard/operator/audit')).text;
    expect(without).to.contain(ann.id).and.not.to.contain(`href="${LIST}/${ann.id}"`);
  });

  it('are in the operators’ log with the admin keys that operators make and revoke for themselves, not with other keys', async () => {
    for (const [name, kind] of [
      ['laptop', 'management'],
      ['shop', 'admin'],
      [' ', 'admin'],
    ])
      await browser.post('/dashboard/keys', { name: name!, kind: kind! });
    for (const { id } of await server.ledger.keys.list(operator.id)) await browser.post(`/dashboard/keys/${id}/revoke`);
    const noted = await server.ledger.operators.list({ limit: 9, before: null });
    const of = { operatorId: operator.id, subject: operator.id, detail: 'admin' };
    expect(noted).to.have.length(3);
    expect(noted[0]).to.include({ ...of, action: 'key-revoked', outcome: 'done' });
    expect(noted[1]).to.include({ ...of, action: 'key-made', outcome: 'refused' });
    expect(noted[2]).to.include({ ...of, action: 'key-made', outcome: 'done' });
  });

  it('are given roles, but nobody takes the own one', async () => {
    await browser.post(`${LIST}/${ann.id}/role`, { role: 'operator' });
    expect(await roleOf(ann)).to.equal('operator');
    expect((await browser.post(`${LIST}/${ann.id}/role`, { role: 'king' })).status).to.equal(400);
    expect((await browser.post(`${LIST}/${operator.id}/role`, { role: 'user' })).status).to.equal(400);
    expect(await roleOf(operator)).to.equal('operator');
  });

  it('are let in by a link', async () => {
    const { text } = await browser.post(`${LIST}/${ann.id}/link`);
    const token = /token=([\w-]{43})/.exec(text)?.[1] ?? '';
    const guest = new HttpBrowser(server);
    await guest.post('/dashboard/link', { token });
    expect((await guest.get('/dashboard/account')).text).to.contain(ann.email);
  });

  it('are suspended, which stops what runs, and resumed', async () => {
    const { key, account } = await server.customer(5);
    server.engine.holdAll();
    const running = transcribe(server, { key, parts: [['audio', fakeAudio(9)]] });
    await until(() => server.engine.stats().windowsInFlight > 0);
    const { location } = await browser.post(`${LIST}/${account.id}/suspend`);
    expect((await browser.get(location!)).text).to.contain('The account is suspended.');
    expect((await running).status).to.equal(401);
    server.engine.release();
    const asked = () => transcribe(server, { key, parts: [['audio', fakeAudio(9)]] });
    expect((await asked()).status).to.equal(403);
    expect(await balance(account)).to.equal(5);
    expect((await browser.get(LIST)).text).to.contain('>suspended<');
    await browser.post(`${LIST}/${account.id}/resume`);
    expect((await asked()).status).to.equal(200);
  });

  it('are suspended and given the operator’s role after a question that names them', async () => {
    const { text } = await browser.get(`${LIST}/${ann.id}`);
    expect(text, 'no form does it at once').not.to.match(/<form[^>]*\/(suspend|role|delete)"/);
    for (const [action, says] of [
      ['suspend', 'Suspend the account'],
      ['role', 'Make it an operator'],
    ] as const) {
      expect(text).to.contain(`href="${LIST}/${ann.id}/${action}"`);
      const question = await browser.get(`${LIST}/${ann.id}/${action}`);
      expect(question.text).to.contain(ann.email).and.to.contain(`<span>${says}</span>`);
    }
    const asked = await server.ledger.accounts.find(ann.email);
    expect(asked).to.include({ role: 'user', suspendedAt: null });
    await server.ledger.access.setRole(ann.id, 'operator');
    expect((await browser.get(`${LIST}/${ann.id}/role`)).text).to.match(/name="role"\s+value="user"/);
  });

  it('are exported, and deleted when that is confirmed', async () => {
    const { key, account } = await server.customer(5);
    await transcribe(server, { key, parts: [['audio', fakeAudio(9)]] });
    const path = `${LIST}/${account.id}`;
    const reported = await browser.get(`${path}/export`);
    expect(reported.headers.get('content-disposition')).to.equal('attachment; filename="account.json"');
    expect(JSON.parse(reported.text)).to.have.nested.property('account.email', account.email);
    expect((await browser.get(`${path}/delete`)).text).to.contain(account.email);
    expect(await server.ledger.accounts.find(account.email), 'asking deletes nothing').not.to.equal(null);
    for (const email of ['', 'someone@example.com', account.id]) {
      const refused = await browser.post(`${path}/delete`, { email });
      expect(refused.status, email).to.equal(400);
      expect(refused.text).to.contain('Nothing was deleted.').and.to.contain(account.email);
    }
    expect((await browser.post(`${path}/delete`)).status, 'without the field').to.equal(400);
    expect(await server.ledger.accounts.find(account.email), 'a wrong address deletes nothing').not.to.equal(null);
    const { location } = await browser.post(`${path}/delete`, { email: ` ${account.email.toUpperCase()} ` });
    expect((await browser.get(location!)).text).to.contain('The account and all its stored data were deleted');
    expect(await server.ledger.accounts.find(account.email)).to.equal(null);
    expect((await browser.get(path)).status).to.equal(404);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  it('nobody suspends or deletes the own one', async () => {
    for (const action of ['suspend', 'delete']) {
      expect((await browser.get(`${LIST}/${operator.id}/${action}`)).status, action).to.equal(400);
      const { email } = operator;
      expect((await browser.post(`${LIST}/${operator.id}/${action}`, { email })).status, action).to.equal(400);
    }
    expect((await browser.get(LIST)).status).to.equal(200);
  });

  it('are administered by keys that operators alone make', async () => {
    const make = async (who: HttpBrowser) => {
      const answer = await who.post('/dashboard/keys', { name: 'shop', kind: 'admin' });
      return answer.location === null ? answer : who.get(answer.location);
    };
    const anns = await browserOf(server, ann);
    expect((await make(anns)).status).to.equal(403);
    expect((await anns.get('/dashboard/keys')).text).not.to.contain('value="admin"');
    expect((await browser.get('/dashboard/keys')).text).to.contain('value="admin"');
    const [rawKey = ''] = /vb_[\w-]{43}/.exec((await make(browser)).text) ?? [];
    const listed = await call(server, '/api/v1/admin/accounts', { headers: bearer({ rawKey }) });
    expect(listed.status).to.equal(200);
    expect((await browser.get('/dashboard/keys')).text).to.contain('administer');
    expect(await server.ledger.keys.list(ann.id)).to.have.length(2);
  });

  it('that are unknown are not found', async () => {
    for (const path of ['acc_nobody', '%00', '..']) {
      expect((await browser.get(`${LIST}/${path}`)).status, path).to.be.oneOf([404, 400]);
    }
    expect((await browser.post(`${LIST}/acc_nobody/grant`, { amount: '5' })).status).to.equal(404);
  });

  it('are listed page by page', async () => {
    for (let n = 0; n < 60; n += 1) {
      now += 1;
      await server.ledger.accounts.create({ email: `many${n}@example.com` });
    }
    const { administration } = server.ledger;
    const asked: number[] = [];
    const list = administration.customers.bind(administration);
    administration.customers = (page) => (asked.push(page.limit), list(page));
    server.ledger.accounts.list = () => Promise.reject(new Error('All accounts are never read for a page.'));
    const first = await browser.get(LIST);
    expect(asked, 'rows of one page, and one more, to know whether there is another').to.deep.equal([51]);
    expect(first.text).to.contain('many40@').and.not.to.contain('many55@');
    const second = await browser.get(/rel="next" href="([^"]+)"/.exec(first.text)?.[1] ?? '');
    expect(second.text).to.contain('many55@').and.not.to.contain('many40@').and.not.to.contain('rel="next"');
    expect(second.text, 'and back').to.contain(`href="${LIST}"`).and.to.contain('First page');
    expect((await browser.get(`${LIST}?after=nonsense`)).status).to.equal(400);
  });
});
