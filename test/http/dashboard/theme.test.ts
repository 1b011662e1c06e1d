import { expect } from 'chai';
import { browserOf, buildDashboard, HttpBrowser } from '../../support/dashboard.js';
import { TestServer } from '../../support/server.js';

describe('dashboard: the theme', () => {
  let server: TestServer;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    server = await TestServer.start();
    browser = await browserOf(server, (await server.customer()).account);
  });
  afterEach(() => server.dispose());

  const choose = (theme: string, next = '/dashboard/keys', by = browser) =>
    by.post('/dashboard/theme', { theme, next });

  it('is in the first byte of every page once it was chosen, and gone with "as the system"', async () => {
    expect((await browser.get('/dashboard')).text).not.to.contain('data-theme');
    const { status, location } = await choose('dark');
    expect({ status, location }).to.deep.equal({ status: 303, location: '/dashboard/keys' });
    expect(browser.lastCookie).to.contain('Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax');
    for (const path of ['', '/keys', '/sign-in', '/nowhere']) {
      const { text } = await browser.get(`/dashboard${path}`);
      expect(text, path).to.contain('<html lang="en" data-theme="dark">');
      expect(text, path).to.contain('<meta name="color-scheme" content="dark" />');
    }
    await choose('light');
    expect((await browser.get('/dashboard')).text).to.contain('data-theme="light"');
    await choose('system');
    expect((await browser.get('/dashboard')).text).not.to.contain('data-theme');
  });

  it('is chosen by who is not signed in, too', async () => {
    const stranger = new HttpBrowser(server);
    await choose('dark', '/dashboard/sign-in', stranger);
    expect((await stranger.get('/dashboard/sign-in')).text).to.contain('data-theme="dark"');
  });

  it('leads back to pages of the dashboard alone', async () => {
    const elsewhere = ['https://example.org/', '//example.org', '/dashboard//example.org', '/dashboard/a?b', '/x', ''];
    for (const next of elsewhere) expect((await choose('dark', next)).location, next).to.equal('/dashboard');
  });

  it('is one of three, and chosen on our own pages', async () => {
    for (const theme of ['', 'Dark', 'blue']) expect((await choose(theme)).status, theme).to.equal(400);
    const from = { 'sec-fetch-site': 'cross-site' };
    expect((await browser.post('/dashboard/theme', { theme: 'dark' }, from)).status).to.equal(403);
    browser.cookies.set('verbatim-theme', '"><script>');
    expect((await browser.get('/dashboard')).text).not.to.contain('data-theme');
  });
});
