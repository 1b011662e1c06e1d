import { expect } from 'chai';
import type { Account } from '../../../src/ledger/types.js';
import { browserOf, buildDashboard, HttpBrowser } from '../../support/dashboard.js';
import { TestServer } from '../../support/server.js';

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
    server = await TestServer.start({ ledger: { clock: () => now } });
    ann = (await server.customer(7)).account;
    operator = await server.ledger.createAccount({ email: 'op@example.com' });
    await server.ledger.access.setRole(operator.id, 'operator');
    browser = await browserOf(server, operator);
  });
  afterEach(() => server.dispose());

  const balance = async (account = ann): Promise<number> => (await server.ledger.balance(account.id)).balance;
  const roleOf = async (account: Account) => (await server.ledger.findAccount(account.email))?.role;

  it('are for operators alone: to others there is nothing, and nothing happens', async () => {
    const anns = await browserOf(server, ann);
    expect((await anns.get('/dashboard')).text).not.to.contain(LIST);
    expect((await browser.get('/dashboard')).text).to.contain(LIST);
    const fields = { email: 'new@example.com', amount: '5', role: 'operator' };
    for (const path of [LIST, `${LIST}/${ann.id}`]) {
      const { status, text } = await anns.get(path);
      expect(status, path).to.equal(404);
      expect(text).not.to.contain(operator.email);
      expect((await new HttpBrowser(server).get(path)).status).to.equal(303);
    }
    for (const path of [LIST, ...['grant', 'role', 'link'].map((action) => `${LIST}/${ann.id}/${action}`)]) {
      expect((await anns.post(path, fields)).status, path).to.equal(404);
      expect((await browser.post(path, fields, { 'sec-fetch-site': 'same-site' })).status).to.equal(403);
    }
    expect(await balance()).to.equal(7);
    expect(await roleOf(ann)).to.equal('user');
    expect(await server.ledger.findAccount('new@example.com')).to.equal(null);
    await server.ledger.access.setRole(operator.id, 'user');
    expect((await browser.get(LIST)).status, 'a role that was taken counts at once').to.equal(404);
  });

  it('are made, with their mistakes told', async () => {
    const made = await browser.post(LIST, { email: 'New@Example.com', name: '<b>Nia</b>' });
    expect(made.status).to.equal(303);
    const page = await browser.get(made.location!);
    expect(page.text).to.contain('The account is made.').and.to.contain('&lt;b&gt;Nia');
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
    expect((await browser.get(location!)).text).to.contain('The credits are granted.');
    const { text } = await (await browserOf(server, ann)).get('/dashboard');
    expect(text).to.contain('507').and.to.contain('2027-01-01 00:00 UTC');
    for (const fields of [{ amount: '0' }, { amount: '1.5' }, { amount: '-1' }, { amount: 'x' }]) {
      const refused = await grant(fields);
      expect(refused.status, fields.amount).to.equal(400);
      expect(refused.text).to.contain('allowed: an integer');
    }
    expect((await grant({ amount: '1', expires: '2026-11-01' })).text).to.contain('The expiry is');
    expect(await balance()).to.equal(507);
    expect(await server.ledger.audit()).to.deep.equal([]);
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

  it('that are unknown are not found', async () => {
    for (const path of ['acc_nobody', '%00', '..']) {
      expect((await browser.get(`${LIST}/${path}`)).status, path).to.be.oneOf([404, 400]);
    }
    expect((await browser.post(`${LIST}/acc_nobody/grant`, { amount: '5' })).status).to.equal(404);
  });

  it('are listed page by page', async () => {
    for (let n = 0; n < 60; n += 1) {
      now += 1;
      await server.ledger.createAccount({ email: `many${n}@example.com` });
    }
    const first = await browser.get(LIST);
    expect(first.text).to.contain('many40@').and.not.to.contain('many55@');
    const second = await browser.get(/rel="next" href="([^"]+)"/.exec(first.text)?.[1] ?? '');
    expect(second.text).to.contain('many55@').and.not.to.contain('many40@').and.not.to.contain('rel="next"');
  });
});
