import { expect } from 'chai';
import { DAY_MS } from '../../../src/ledger/time.js';
import { browserOf, buildDashboard, HttpBrowser, rowsOf, type PageAnswer } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, transcribe } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

describe('dashboard: usage and keys', () => {
  let server: TestServer;
  let now: number;
  let ann: Customer;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 22, 12);
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
    ann = await server.customer(100);
    browser = await browserOf(server, ann.account);
  });
  afterEach(() => server.dispose());

  const speak = (seconds: number, customer = ann, language = 'en') =>
    transcribe(server, {
      key: customer.key,
      parts: [['audio', fakeAudio(seconds, { language, text: 'SECRET' })]],
    });

  it('are found with a slash behind their address, too', async () => {
    const { status, headers } = await fetch(new URL('/dashboard/', server.url), { redirect: 'manual' });
    expect([status, headers.get('location')]).to.deep.equal([303, '/dashboard']);
  });

  it('that are not there keep the navigation of whoever is signed in, and show others nothing', async () => {
    const path = '/dashboard/nothing/here';
    for (const method of ['get', 'post'] as const) {
      const { status, text } = await browser[method](path);
      expect(status).to.equal(404);
      expect(text).to.contain('There is no page at this address.').and.to.contain('href="/dashboard/keys"');
      expect(text).to.contain(ann.account.email);
    }
    const stranger = await new HttpBrowser(server).get(path);
    expect(stranger.status).to.equal(404);
    expect(stranger.text).to.contain('There is no page').and.not.to.contain('<nav');
  });

  describe('usage', () => {
    beforeEach(async () => {
      await speak(61);
      await speak(3);
      now += 2 * DAY_MS;
      browser = await browserOf(server, ann.account);
      await speak(200);
    });

    it('is reported by day and endpoint, of one’s own account', async () => {
      await speak(500, await server.customer());
      const { text, status } = await browser.get('/dashboard/usage');
      expect(status).to.equal(200);
      const own = await server.ledger.keys.list(ann.account.id);
      expect(rowsOf(text)).to.deep.equal([
        [own.find(({ id }) => id === ann.key.id)!.name, '3', '7', '7', '100 %'],
        ['fake', '3', '7', '7', '100 %'],
        ['2026-11-22', '/api/v1/transcribe', '2', '3', '3'],
        ['2026-11-24', '/api/v1/transcribe', '1', '4', '4'],
      ]);
      expect(text).to.contain('data-days="30"').and.to.contain('aria-current="true"');
    });

    it('is shown of 7, 30 or 90 days, and of no other time', async () => {
      now += 6 * DAY_MS;
      browser = await browserOf(server, ann.account);
      const count = async (days: string): Promise<number> =>
        rowsOf((await browser.get(`/dashboard/usage?days=${days}`)).text).filter(([day]) => day?.startsWith('2026-'))
          .length;
      expect(await count('7')).to.equal(1);
      expect(await count('90')).to.equal(2);
      for (const days of ['1', '1000', 'all', '7&days=30', '']) {
        expect((await browser.get(`/dashboard/usage?days=${days}`)).status, days).to.equal(400);
      }
    });

    it('is a file of comma-separated values', async () => {
      const { headers, text } = await browser.get('/dashboard/usage.csv?days=7');
      expect(headers.get('content-type')).to.contain('text/csv');
      expect(headers.get('content-disposition')).to.equal('attachment; filename=usage-7-days-by-day.csv');
      expect(text).to.equal(
        'date,endpoint,requests,minutes,credits\r\n' +
          '2026-11-22,/api/v1/transcribe,2,3,3\r\n2026-11-24,/api/v1/transcribe,1,4,4\r\n',
      );
    });

    it('is split by key and by model, and downloaded so; a name that a spreadsheet would run is text there', async () => {
      const name = '=HYPERLINK("http://example.com","x")';
      const sly = await server.ledger.keys.create({ accountId: ann.account.id, name, scopes: [] });
      await speak(60, { ...ann, key: sly });
      const { text } = await browser.get('/dashboard/usage?days=7');
      expect(rowsOf(text).slice(0, 3)).to.deep.equal([
        [ann.key.name, '3', '7', '7', '88 %'],
        ['=HYPERLINK(&quot;http://example.com&quot;,&quot;x&quot;)', '1', '1', '1', '13 %'],
        ['fake', '4', '8', '8', '100 %'],
      ]);
      const keys = await browser.get('/dashboard/usage.csv?days=7&by=key');
      expect(keys.headers.get('content-disposition')).to.equal('attachment; filename=usage-7-days-by-key.csv');
      expect(keys.text.split('\r\n').slice(0, 3)).to.deep.equal([
        'key_id,name,requests,minutes,credits',
        `${ann.key.id},${ann.key.name},3,7,7`,
        `${sly.id},"'=HYPERLINK(""http://example.com"",""x"")",1,1,1`,
      ]);
      const models = await browser.get('/dashboard/usage.csv?days=7&by=model');
      expect(models.text).to.equal('model,requests,minutes,credits\r\nfake,4,8,8\r\n');
      expect((await browser.get('/dashboard/usage.csv?by=account')).status).to.equal(400);
    });
  });

  describe('keys', () => {
    const MADE = '/dashboard/keys/made';
    const make = (fields: Record<string, string>) => browser.post('/dashboard/keys', fields);

    async function made(fields: Record<string, string>): Promise<PageAnswer> {
      const { status, location } = await make(fields);
      expect({ status, location }).to.deep.equal({ status: 303, location: MADE });
      return browser.get(MADE);
    }
    const rawOf = (text: string): string => /id="raw-key">(vb_[\w-]{43})</.exec(text)?.[1] ?? '';

    it('are made, plain ones and management keys, and shown once', async () => {
      const plain = await made({ name: 'laptop', kind: 'plain' });
      const management = await made({ name: 'ci', kind: 'management' });
      expect(plain.status).to.equal(200);
      for (const [page, status] of [
        [plain, 403],
        [management, 200],
      ] as const) {
        const raw = rawOf(page.text);
        expect((await call(server, '/api/v1/me', { headers: bearer(raw) })).status).to.equal(200);
        expect((await call(server, '/api/v1/keys', { headers: bearer(raw) })).status).to.equal(status);
        expect(page.text).to.contain(`curl -H &#39;Authorization: Bearer ${raw}&#39; ${server.url}/api/v1/me`);
        expect((await browser.get('/dashboard/keys')).text).not.to.contain(raw);
      }
      const [ci, laptop] = rowsOf((await browser.get('/dashboard/keys')).text);
      expect(ci?.slice(0, 3)).to.deep.equal(['ci', `${rawOf(management.text).slice(0, 11)}…`, 'manage keys']);
      expect(laptop?.slice(2)).to.deep.equal([
        ...['transcribe', '2026-11-22 12:00 UTC', 'this minute 2026-11-22 12:00 UTC', 'Revoke'],
      ]);
      now += 3 * 3_600_000;
      const later = rowsOf((await browser.get('/dashboard/keys')).text);
      expect(later[1]?.[4]).to.equal('3 hours ago 2026-11-22 12:00 UTC');
      expect(later.find(([name]) => name === ann.key.name)?.[4]).to.equal('never');
    });

    it('are neither shown nor made again by loading the page again', async () => {
      const page = await made({ name: 'laptop', kind: 'plain' });
      expect(page.headers.get('cache-control')).to.equal('no-store');
      const again = await browser.get(MADE);
      expect({ status: again.status, location: again.location }).to.deep.equal({
        status: 303,
        location: '/dashboard/keys?notice=key-shown',
      });
      const { text } = await browser.get(again.location!);
      expect(text).to.contain('A new key is shown only once.').and.not.to.contain(rawOf(page.text));
      expect(rowsOf(text).filter(([name]) => name === 'laptop')).to.have.length(1);
    });

    it('are on their way for a minute, in a cookie that no script and no other page gets', async () => {
      await make({ name: 'laptop' });
      expect(browser.lastCookie)
        .to.match(/^verbatim-loopback-key=vb_[\w-]{43}; /)
        .and.to.contain('; Path=/dashboard/keys/made; Max-Age=60; HttpOnly; SameSite=Strict');
    });

    it('of another account are not shown, whoever put them into the cookie', async () => {
      const bob = await server.customer();
      browser.cookies.set('verbatim-loopback-key', bob.key.rawKey);
      const { status, text, location } = await browser.get(MADE);
      expect({ status, location }).to.deep.equal({ status: 303, location: '/dashboard/keys?notice=key-shown' });
      expect(text).not.to.contain(bob.key.rawKey);
    });

    it('have a name; a bad one is refused beside the form, which keeps what was typed', async () => {
      const before = (await server.ledger.keys.list(ann.account.id)).length;
      for (const name of ['', '   ', 'x'.repeat(101), 'a\u202eb']) {
        const { status, text } = await make({ name, kind: 'management' });
        expect(status).to.equal(400);
        expect(text).to.match(/id="name-error" role="alert">\s*The key name must/);
        expect(text).to.match(/value="management"\s+checked/);
      }
      expect((await server.ledger.keys.list(ann.account.id)).length).to.equal(before);
    });

    it('are shown with names that are no markup', async () => {
      const name = '"><script>alert(1)</script>';
      await make({ name });
      const { text } = await browser.get('/dashboard/keys');
      expect(text).to.contain('&quot;&gt;&lt;script&gt;alert(1)').and.not.to.contain('<script>alert');
    });

    it('are revoked after a question, while a request runs: it is stopped, uncharged', async () => {
      const { id } = ann.key;
      const asked = await browser.get(`/dashboard/keys/${id}/revoke`);
      expect(asked.text).to.contain('cannot be undone').and.to.contain('plain');
      server.engine.holdAll();
      const running = speak(3);
      await server.engine.untilRunning(1);
      const { location } = await browser.post(`/dashboard/keys/${id}/revoke`);
      expect(location).to.equal('/dashboard/keys?notice=key-revoked');
      const answer = await running;
      expect(answer.status).to.equal(401);
      expect(answer.error?.code).to.equal('invalid_api_key');
      expect(await server.balance(ann)).to.equal(100);
      const page = await browser.get(location!);
      expect(page.text).to.contain('The key is revoked.').and.to.contain('1 revoked key');
      const [row] = rowsOf(page.text).slice(-1);
      expect(row?.[0]).to.equal(ann.key.name);
      expect(row?.[5]).to.equal('2026-11-22 12:00 UTC');
      expect((await browser.get(`/dashboard/keys/${id}/revoke`)).status).to.equal(404);
    });

    it('of another account cannot be seen or revoked', async () => {
      const bob = await server.customer();
      for (const method of ['get', 'post'] as const) {
        expect((await browser[method](`/dashboard/keys/${bob.key.id}/revoke`)).status).to.equal(404);
      }
      expect((await server.ledger.keys.authenticate(bob.key.rawKey))?.key.revokedAt).to.equal(null);
      const { text } = await browser.get('/dashboard/keys');
      expect(text).not.to.contain(bob.key.id).and.not.to.contain(bob.key.prefix);
    });
  });
});
