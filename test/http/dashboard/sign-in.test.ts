import { expect } from 'chai';
import { hashPassword } from '../../../src/ledger/access/password.js';
import { SESSION_IDLE_MS } from '../../../src/ledger/access/types.js';
import type { Account } from '../../../src/ledger/types.js';
import { browserOf, buildDashboard, CHEAP_PASSWORDS, HttpBrowser } from '../../support/dashboard.js';
import { call } from '../../support/requests.js';
import { bearer, TestServer } from '../../support/server.js';

const PASSWORD = 'correct horse battery staple';
const BROWSER = { browser: '', address: '' };
const COOKIE = 'verbatim-loopback';

describe('dashboard: signing in', () => {
  let server: TestServer;
  let now: number;
  let ann: Account;

  before(buildDashboard);
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 22, 12);
    const settings = { trustProxy: ['loopback'], passwordCost: CHEAP_PASSWORDS };
    server = await TestServer.start({ ledgerOptions: { clock: () => now }, settings });
    ann = (await server.customer()).account;
  });
  afterEach(() => server.dispose());

  async function withPassword(): Promise<void> {
    await server.ledger.access.setPassword(ann.id, await hashPassword(PASSWORD, ann.email, CHEAP_PASSWORDS), BROWSER);
  }

  function signIn(browser: HttpBrowser, fields: Record<string, string> = {}) {
    return browser.post('/dashboard/sign-in', { email: ann.email, password: PASSWORD, ...fields });
  }

  it('asks who is not signed in to do so, and comes back', async () => {
    await withPassword();
    const browser = new HttpBrowser(server);
    const { status, location } = await browser.get('/dashboard/account');
    expect({ status, location }).to.deep.equal({
      status: 303,
      location: '/dashboard/sign-in?next=/dashboard/account',
    });
    expect((await browser.get(location!)).text).to.contain('name="next" value="/dashboard/account"');
    expect((await signIn(browser, { next: '/dashboard/account' })).location).to.equal('/dashboard/account');
    const page = await browser.get('/dashboard/account');
    expect(page.status).to.equal(200);
    expect(page.text).to.contain(ann.email);
  });

  it('goes nowhere else than to its own pages', async () => {
    await withPassword();
    for (const next of ['https://evil.example/', '//evil.example', '/dashboard/../api', '/\\evil.example', '']) {
      const { text } = await new HttpBrowser(server).get(`/dashboard/sign-in?next=${encodeURIComponent(next)}`);
      expect(text).to.contain('name="next" value="/dashboard"').and.not.to.contain('evil');
      const { location } = await signIn(new HttpBrowser(server), { next });
      expect(location, next).to.equal('/dashboard');
    }
  });

  it('by link uses it up with the form, not by looking', async () => {
    const { token } = await server.ledger.access.createLink(ann.id);
    const browser = new HttpBrowser(server);
    for (let looks = 0; looks < 2; looks += 1) {
      const { text, status } = await browser.get(`/dashboard/link?token=${token}`);
      expect(status).to.equal(200);
      expect(text).to.contain(ann.email).and.to.contain(token);
    }
    expect((await browser.post('/dashboard/link', { token })).location).to.equal('/dashboard');
    expect((await browser.get('/dashboard')).status).to.equal(200);
    const again = await new HttpBrowser(server).post('/dashboard/link', { token });
    expect(again.status).to.equal(403);
    expect(again.text).to.contain('was used already').and.not.to.contain(ann.email);
    expect((await browser.get('/dashboard/link?token=nonsense')).text).to.contain('was used already');
    expect((await browser.get('/dashboard/link')).text).to.contain('was used already');
  });

  it('hashes a password again when the parameters have grown', async () => {
    const old = await hashPassword(PASSWORD, ann.email, { ...CHEAP_PASSWORDS, cost: 8 });
    await server.ledger.access.setPassword(ann.id, old, BROWSER);
    expect((await signIn(new HttpBrowser(server))).location).to.equal('/dashboard');
    expect((await server.ledger.access.findPassword(ann.email))?.password).to.include(CHEAP_PASSWORDS);
    expect((await signIn(new HttpBrowser(server))).location).to.equal('/dashboard');
  });

  it('says the same of a wrong password, an account without one, and no account', async () => {
    const none = (await server.customer()).account;
    await withPassword();
    const answers = [];
    for (const fields of [{ password: 'a wrong password' }, { email: none.email }, { email: 'x@y.z' }]) {
      const { status, text } = await signIn(new HttpBrowser(server), fields);
      answers.push({ status, text: text.replaceAll(fields.email ?? ann.email, 'EMAIL') });
    }
    expect(answers[0]).to.include({ status: 403 });
    expect(answers[0]?.text).to.contain('is wrong');
    expect(answers[1]).to.deep.equal(answers[0]);
    expect(answers[2]).to.deep.equal(answers[0]);
  });

  describe('the cookie', () => {
    it('is HttpOnly, SameSite=Lax, and has a name of its own over http on the loopback', async () => {
      const browser = await browserOf(server, ann);
      expect(browser.lastCookie).to.match(
        /^verbatim-loopback=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
      );
    });

    it('is bound to the host and secure over https, as a trusted proxy reports it', async () => {
      const https = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'speech.example.org' };
      const browser = await browserOf(server, ann, https);
      expect(browser.lastCookie).to.match(
        /^__Host-verbatim=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
      );
      expect((await browser.get('/dashboard')).status).to.equal(200);
      const token = browser.cookies.get('__Host-verbatim') ?? '';
      const plain = new HttpBrowser(server, https);
      plain.cookies.set(COOKIE, token);
      expect((await plain.get('/dashboard')).status, 'a cookie that any page over http could set').to.equal(303);
    });

    it('is not given where anybody on the way could read it', async () => {
      const { token } = await server.ledger.access.createLink(ann.id);
      const browser = new HttpBrowser(server, { 'x-forwarded-host': 'speech.example.org' });
      const { text } = await browser.get('/dashboard/sign-in');
      expect(text).to.contain('requires HTTPS').and.not.to.contain('type="password"');
      const { status } = await browser.post('/dashboard/link', { token });
      expect(status).to.equal(403);
      expect(await server.ledger.access.linkOwner(token), 'the link is kept').not.to.equal(null);
    });

    it('is never the one that the browser came with', async () => {
      const { token } = await server.ledger.access.createLink(ann.id);
      const fixed = 'A'.repeat(43);
      const browser = new HttpBrowser(server);
      browser.cookies.set(COOKIE, fixed);
      await browser.post('/dashboard/link', { token });
      expect(browser.cookies.get(COOKIE)).not.to.equal(fixed);
    });

    it('of the session before is worth nothing after another sign-in, nor after signing out', async () => {
      const browser = await browserOf(server, ann);
      const first = browser.cookies.get(COOKIE) ?? '';
      const { token } = await server.ledger.access.createLink(ann.id);
      await browser.post('/dashboard/link', { token });
      const second = browser.cookies.get(COOKIE) ?? '';
      const { location } = await browser.post('/dashboard/sign-out');
      expect(browser.cookies.size).to.equal(0);
      expect((await browser.get(location!)).text).to.contain('You have signed out.');
      for (const stolen of [first, second]) {
        const thief = new HttpBrowser(server);
        thief.cookies.set(COOKIE, stolen);
        expect((await thief.get('/dashboard')).status).to.equal(303);
      }
    });

    it('opens no API, and an API key opens no page', async () => {
      const customer = await server.customer();
      const browser = await browserOf(server, customer.account);
      for (const path of ['/api/v1/me', '/v1/models']) expect((await browser.get(path)).status).to.equal(401);
      const keyed = new HttpBrowser(server, bearer(customer.managementKey));
      const { status, location } = await keyed.get('/dashboard/account');
      expect(status).to.equal(303);
      expect(location).to.contain('/dashboard/sign-in');
    });

    it('is worth nothing after half a day without use', async () => {
      const browser = await browserOf(server, ann);
      now += SESSION_IDLE_MS;
      expect((await browser.get('/dashboard')).status).to.equal(303);
    });
  });

  describe('guessing', () => {
    const guess = (browser: HttpBrowser, email: string) => signIn(browser, { email, password: 'a guess of mine' });

    it('is slowed down by account, whatever the address, and a right password is too', async () => {
      await withPassword();
      let address = 0;
      const from = (): HttpBrowser => new HttpBrowser(server, { 'x-forwarded-for': `192.0.2.${++address}` });
      for (let n = 0; n < 10; n += 1) expect((await guess(from(), ann.email)).status).to.equal(403);
      const { status, headers, text } = await guess(from(), ` ${ann.email.toUpperCase()}`);
      expect(status).to.equal(429);
      expect(headers.get('retry-after')).to.equal('60');
      expect(text).to.contain('Try again in 60 s');
      expect((await signIn(from())).status).to.equal(429);
      expect((await guess(from(), 'bob@example.com')).status).to.equal(403);
      now += 60_000;
      expect((await signIn(from())).status).to.equal(303);
      expect((await browserOf(server, ann)).cookies.size, 'links go on').to.equal(1);
    });

    it('is slowed down by address, an IPv6 network being one', async () => {
      let host = 0;
      const from = (): HttpBrowser =>
        new HttpBrowser(server, { 'x-forwarded-for': `2001:db8:1:2::${(++host).toString(16)}` });
      for (let n = 0; n < 30; n += 1) {
        expect((await guess(from(), `user${n}@example.com`)).status).to.equal(403);
      }
      const { status, headers } = await guess(from(), 'one-more@example.com');
      expect(status).to.equal(429);
      expect(headers.get('retry-after')).to.equal('10');
      const other = new HttpBrowser(server, { 'x-forwarded-for': '2001:db8:1:3::1' });
      expect((await guess(other, 'one-more@example.com')).status).to.equal(403);
      now += 10_000;
      expect((await guess(from(), 'one-more@example.com')).status).to.equal(403);
    }).timeout(180_000);

    it('does not count right passwords', async () => {
      await withPassword();
      for (let n = 0; n < 12; n += 1) expect((await signIn(new HttpBrowser(server))).status).to.equal(303);
    });
  });

  describe('forms', () => {
    const refused: [string, Record<string, string>][] = [
      ['of another site', { 'sec-fetch-site': 'cross-site' }],
      ['of a sibling subdomain', { 'sec-fetch-site': 'same-site' }],
      ['that nobody sent from a page', { 'sec-fetch-site': 'none' }],
      ['of another origin', { origin: 'https://evil.example' }],
      ['of nowhere', { origin: 'null' }],
      ['that do not say where they come from', {}],
    ];
    for (const [what, headers] of refused) {
      it(`${what} do nothing`, async () => {
        await withPassword();
        const browser = await browserOf(server, ann);
        const before = await server.ledger.access.listSessions(ann.id);
        const { token } = await server.ledger.access.createLink(ann.id);
        const fields = { email: ann.email, password: PASSWORD, again: PASSWORD, current: PASSWORD, token };
        for (const path of ['sign-in', 'link', 'sign-out', 'account/password', 'account/sessions/end-others']) {
          const { status, text } = await browser.post(`/dashboard/${path}`, fields, headers);
          expect(status, path).to.equal(403);
          expect(text).to.contain('not sent from a page of this server');
        }
        expect(await server.ledger.access.listSessions(ann.id)).to.deep.equal(before);
        expect(await server.ledger.access.linkOwner(token)).not.to.equal(null);
      });
    }

    it('of our own origin are taken from browsers that only say Origin', async () => {
      await withPassword();
      const fields = { email: ann.email, password: PASSWORD };
      const { origin } = new URL(server.url);
      const { status } = await new HttpBrowser(server).post('/dashboard/sign-in', fields, { origin });
      expect(status).to.equal(303);
    });

    it('that are too large, broken, or no forms are refused with a page', async () => {
      const browser = new HttpBrowser(server);
      const large = await signIn(browser, { password: 'x'.repeat(20_000) });
      expect(large.status).to.equal(400);
      expect(large.text).to.contain('at most 16384 bytes').and.to.contain('<h1>');
      const missing = await browser.post('/dashboard/sign-in', { email: ann.email });
      expect(missing.status).to.equal(400);
      expect(missing.text).to.contain('&quot;password&quot; is missing');
      const json = await call(server, '/dashboard/sign-in', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: '{}',
      });
      expect(json.status).to.equal(415);
      expect(json.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    });
  });

  it('counts nothing in a page as markup', async () => {
    const email = '"><img/src=x/onerror=alert(1)>@example.com';
    const name = "<script>alert('x')</script>";
    const hostile = await server.ledger.accounts.create({ email, name });
    const browser = await browserOf(server, hostile, { 'user-agent': '<b onload=alert(1)>' });
    const { text: account } = await browser.get('/dashboard/account');
    expect(account).to.contain('&lt;script&gt;alert(&#39;x&#39;)').and.to.contain('&lt;b onload');
    const { text: wrong } = await signIn(browser, { email });
    const { token } = await server.ledger.access.createLink(hostile.id);
    const { text: link } = await browser.get(`/dashboard/link?token=${token}`);
    for (const text of [account, wrong, link]) {
      expect(text)
        .to.contain('&quot;&gt;&lt;img/src=x/onerror')
        .and.not.to.match(/<img|<script>|<b /);
    }
  });

  it('sends every page with the headers that keep others out, and lets nobody store it', async () => {
    const browser = await browserOf(server, ann);
    for (const path of ['/sign-in', '', '/account', '/link', '/nowhere']) {
      const { headers } = await browser.get(`/dashboard${path}`);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).to.contain("default-src 'none'").and.to.contain("frame-ancestors 'none'");
      expect(policy)
        .not.to.contain('unsafe')
        .and.not.to.match(/https?:|\*/);
      expect(headers.get('x-frame-options')).to.equal('DENY');
      expect(headers.get('referrer-policy')).to.equal('same-origin');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('answers errors as pages: unknown paths, other methods', async () => {
    const browser = await browserOf(server, ann);
    const unknown = await browser.get('/dashboard/nowhere');
    expect(unknown.status).to.equal(404);
    expect(unknown.text).to.contain('<h1>').and.to.contain('There is no page at this address.');
    const method = await browser.post('/dashboard/account');
    expect(method.status).to.equal(405);
    expect(method.headers.get('allow')).to.equal('GET, HEAD, OPTIONS');
  });

  it('serves what pages need under an address that changes with it, for ever', async () => {
    const { text } = await new HttpBrowser(server).get('/dashboard/sign-in');
    const files = [...text.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(files).to.have.length.at.least(2);
    let bytes = Buffer.byteLength(text);
    for (const path of files) {
      const { status, headers, text: file } = await new HttpBrowser(server).get(path);
      expect(status, path).to.equal(200);
      expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      bytes += Buffer.byteLength(file);
    }
    expect(files.length + 1).to.be.at.most(4);
    expect(bytes).to.be.below(100_000);
    const [file = ''] = files;
    for (const other of [
      file.replace(/assets\/\w+/, 'assets/0'),
      `${file}.map`,
      file.replace(/[^/]+$/, '..%2f..%2fpackage.json'),
    ]) {
      expect((await new HttpBrowser(server).get(other)).status, other).to.equal(404);
    }
  });
});
