import { expect } from 'chai';
import { hashPassword } from '../../../src/ledger/access/password.js';
import type { Account } from '../../../src/ledger/types.js';
import { browserOf, buildDashboard, CHEAP_PASSWORDS, HttpBrowser } from '../../support/dashboard.js';
import { TestServer } from '../../support/server.js';

const OLD = 'correct horse battery staple';
const NEW = 'a battery and another horse';

describe('dashboard: the account', () => {
  let server: TestServer;
  let now: number;
  let ann: Account;

  before(buildDashboard);
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 22, 12);
    server = await TestServer.start({
      ledgerOptions: { clock: () => now },
      settings: { passwordCost: CHEAP_PASSWORDS },
    });
    ann = (await server.customer(250)).account;
  });
  afterEach(() => server.dispose());

  function set(browser: HttpBrowser, fields: Record<string, string> = {}) {
    return browser.post('/dashboard/account/password', { password: NEW, again: NEW, ...fields });
  }

  async function byPassword(password: string): Promise<HttpBrowser> {
    const browser = new HttpBrowser(server);
    await browser.post('/dashboard/sign-in', { email: ann.email, password });
    return browser;
  }

  async function isIn(browser: HttpBrowser): Promise<boolean> {
    return (await browser.get('/dashboard')).status === 200;
  }

  it('shows the credits: balance, packs, when they expire', async () => {
    await server.ledger.credits.grant({ accountId: ann.id, amount: 1_234, expiresAt: '2026-12-31' });
    const { text } = await (await browserOf(server, ann)).get('/dashboard');
    expect(text)
      .to.contain('1,484')
      .and.to.contain('<time datetime="2026-12-31T00:00:00.000Z" title="2026-12-31 00:00 UTC">2026-12-31 00:00 UTC');
    expect(text.indexOf('1,234'), 'what expires first is first').to.be.below(text.indexOf('never'));
  });

  it('sets a password after a link, and ends all other sessions', async () => {
    const [browser, other] = [await browserOf(server, ann), await browserOf(server, ann)];
    expect((await browser.get('/dashboard/account')).text).to.contain('No password is set');
    const { location } = await set(browser);
    expect(location).to.equal('/dashboard/account?notice=password-set');
    expect((await browser.get(location!)).text)
      .to.contain('The password is set.')
      .and.to.contain('A password is set.');
    expect(await isIn(other)).to.equal(false);
    expect(await isIn(await byPassword(NEW))).to.equal(true);
  });

  it('asks for the current password, unless a link has just been used', async () => {
    const record = await hashPassword(OLD, ann.email, CHEAP_PASSWORDS);
    await server.ledger.access.setPassword(ann.id, record, { browser: '', address: '' });
    const browser = await byPassword(OLD);
    expect((await set(browser)).status, 'none given').to.equal(400);
    const wrong = await set(browser, { current: 'not the present one' });
    expect(wrong.status).to.equal(400);
    expect(wrong.text).to.contain('The current password is wrong.');
    expect((await set(browser, { current: OLD })).status).to.equal(303);
    expect(await isIn(await byPassword(OLD))).to.equal(false);
    expect(await isIn(await byPassword(NEW))).to.equal(true);

    const later = await browserOf(server, ann);
    now += 3_600_000;
    expect((await set(later)).status).to.equal(400);
    expect((await set(later, { current: NEW, password: OLD, again: OLD })).status).to.equal(303);
  });

  it('sets none in a session that is older than an hour and knows no password', async () => {
    const browser = await browserOf(server, ann);
    now += 3_600_000;
    expect((await browser.get('/dashboard/account')).text)
      .to.contain('sign in with a new link')
      .and.not.to.contain('name="again"');
    expect((await set(browser)).status).to.equal(403);
    expect(await server.ledger.access.findPassword(ann.email)).to.equal(null);
  });

  it('throttles guesses of the current password, too', async () => {
    const record = await hashPassword(OLD, ann.email, CHEAP_PASSWORDS);
    await server.ledger.access.setPassword(ann.id, record, { browser: '', address: '' });
    const browser = await byPassword(OLD);
    for (let n = 0; n < 10; n += 1) expect((await set(browser, { current: `guess ${n}` })).status).to.equal(400);
    expect((await set(browser, { current: OLD })).status).to.equal(429);
  });

  it('refuses two passwords that differ, and weak ones, each with its reason', async () => {
    const browser = await browserOf(server, ann);
    expect((await set(browser, { again: OLD })).text).to.contain('differ');
    const short = await set(browser, { password: 'short', again: 'short' });
    expect(short.status).to.equal(400);
    expect(short.text).to.contain('12 to 256 characters');
    expect((await set(browser, { password: ann.email, again: ann.email })).text).to.contain('is the e-mail address');
    expect(await server.ledger.access.findPassword(ann.email)).to.equal(null);
  });

  it('lists sessions, ends one, ends the others', async () => {
    const mine = await browserOf(server, ann, { 'user-agent': 'Mine/1.0' });
    const others = [await browserOf(server, ann, { 'user-agent': 'Phone/2.0' }), await browserOf(server, ann)];
    const { text } = await mine.get('/dashboard/account');
    expect(text).to.contain('Mine/1.0').and.to.contain('Phone/2.0').and.to.contain('this session');
    const [phone, ...rest] = [...text.matchAll(/action="(\/dashboard\/account\/sessions\/ses_[^"]+)"/g)].map(
      ([, path]) => path!,
    );
    expect(rest, 'the own one is ended by signing out').to.have.length(1);
    await mine.post(phone!);
    await mine.post('/dashboard/account/sessions/end-others');
    for (const other of others) expect(await isIn(other)).to.equal(false);
    expect(await isIn(mine)).to.equal(true);
  });

  it('names the browsers of sessions in words, and reports the rest of what they said', async () => {
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0';
    await browserOf(server, ann, { 'user-agent': '<b title="x">Robot</b>' });
    const { text } = await (await browserOf(server, ann, { 'user-agent': firefox })).get('/dashboard/account');
    expect(text).to.contain(`<span title="${firefox}">Firefox on Linux</span>`);
    expect(text).to.contain('>&lt;b title=&quot;x&quot;&gt;Robot').and.not.to.contain('<b title');
  });

  it('ends no session of another account', async () => {
    const bob = (await server.customer()).account;
    const [anns, bobs] = [await browserOf(server, ann), await browserOf(server, bob)];
    const [session] = await server.ledger.access.listSessions(ann.id);
    const { status } = await bobs.post(`/dashboard/account/sessions/${session!.id}/end`);
    expect(status).to.equal(404);
    expect(await isIn(anns)).to.equal(true);
  });
});
