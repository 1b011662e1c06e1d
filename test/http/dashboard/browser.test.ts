/** The dashboard in Chromium: what people see, reach by the keyboard, and are protected from. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { DAY_MS } from '../../../src/ledger/time.js';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { buildDashboard, CHEAP_PASSWORDS } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { transcribe } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';

const PASSWORD = 'correct horse battery staple';
const PAGES = ['', '/try', '/usage', '/keys', '/history', '/account'];

describe('dashboard: in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser;
  let server: TestServer;
  let now: number;
  let ann: Customer;
  let context: BrowserContext;
  /** What pages asked for, and what their scripts complained of. */
  let asked: string[];
  let complaints: string[];

  before(async () => {
    buildDashboard();
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 22, 12);
    [asked, complaints] = [[], []];
    server = await TestServer.start({
      ledger: { clock: () => now },
      settings: { passwordCost: CHEAP_PASSWORDS },
    });
    ann = await server.customer(250);
    context = await browser.newContext();
  });
  afterEach(async () => {
    await context.close();
    await server.dispose();
    expect(complaints).to.deep.equal([]);
    expect(asked.filter((url) => !url.startsWith(`${server.url}/dashboard`))).to.deep.equal([]);
  });

  async function open(within: BrowserContext = context): Promise<Page> {
    const page = await within.newPage();
    page.on('request', (request) => void asked.push(request.url()));
    page.on('pageerror', (error) => void complaints.push(String(error)));
    page.on('console', (message) => {
      // What the server refuses is told there, too.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        complaints.push(message.text());
      }
    });
    return page;
  }

  async function signedIn(customer = ann, within: BrowserContext = context): Promise<Page> {
    const page = await open(within);
    const { token } = await server.ledger.access.createLink(customer.account.id);
    await page.goto(`${server.url}/dashboard/link?token=${token}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return page;
  }

  async function speak(customer = ann): Promise<void> {
    const { status } = await transcribe(server, { key: customer.key, parts: [['audio', fakeAudio(90)]] });
    expect(status).to.equal(200);
  }

  const go = (page: Page, path: string) => page.goto(`${server.url}/dashboard${path}`);

  it('signs in by link, sets a password, signs out, and in by the password', async () => {
    const page = await signedIn();
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('New password, again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('The password is set.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await go(page, '/keys');
    await page.getByLabel('E-mail address').fill(ann.account.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
  });

  it('makes a management key by the keyboard alone; its curl line works, and Copy copies it', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await signedIn();
    await go(page, '/keys');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('for curl');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    const raw = await page.locator('#raw-key').textContent();
    await page.getByRole('button', { name: 'Copy' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(raw);
    const line = (await page.locator('#try-command').textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent`]);
    expect(JSON.parse(stdout)).to.deep.include({ credits: { balance: 250, lifetime_purchased: 250 } });
    const identity = await server.ledger.authenticate(raw ?? '');
    expect(identity?.key.scopes).to.deep.equal(['keys:write']);
  });

  it('revokes a key after a question', async () => {
    const page = await signedIn();
    await go(page, '/keys');
    await page.getByRole('link', { name: 'Revoke the key plain' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The key is revoked.').waitFor();
    expect(await server.ledger.authenticate(ann.key.rawKey)).to.equal(null);
  });

  it('draws usage as a chart', async () => {
    await speak();
    now += DAY_MS;
    await speak();
    const page = await signedIn();
    await go(page, '/usage?days=7');
    await page.locator('#chart canvas').waitFor();
    expect(await page.locator('#chart li').allTextContents()).to.deep.equal(['/api/v1/transcribe']);
    const inked = `(() => {
      const canvas = document.querySelector('#chart canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === 0x1f && data[i + 1] === 0x6f && data[i + 2] === 0xc4) count += 1;
      return count;
    })()`;
    expect(await page.evaluate<number>(inked), 'pixels of the bars').to.be.above(500);
  });

  it('works without scripts: signing in, usage as a table, making a key', async () => {
    await speak();
    const plain = await browser.newContext({ javaScriptEnabled: false });
    try {
      const page = await signedIn(ann, plain);
      await go(page, '/usage');
      expect(await page.locator('#by-day tbody tr').count()).to.equal(1);
      expect(await page.locator('#chart').isVisible()).to.equal(false);
      await go(page, '/keys');
      await page.getByLabel('What it is for').fill('no scripts');
      await page.getByRole('button', { name: 'Make key' }).click();
      expect(await page.locator('#raw-key').textContent()).to.match(/^vb_/);
      expect(await page.getByRole('button', { name: 'Copy' }).count()).to.equal(0);
    } finally {
      await plain.close();
    }
  });

  it('shows two users at once only their own', async () => {
    const bob = await server.customer(777);
    await speak(bob);
    const other = await browser.newContext();
    try {
      const [anns, bobs] = [await signedIn(), await signedIn(bob, other)];
      for (const path of PAGES) {
        await go(anns, path);
        await go(bobs, path);
        expect(await anns.content())
          .to.contain(ann.account.email)
          .and.not.to.contain(bob.account.email);
        expect(await bobs.content())
          .to.contain(bob.account.email)
          .and.not.to.contain(ann.account.email);
      }
      await go(anns, '/history');
      expect(await anns.locator('tbody tr').count()).to.equal(0);
      await go(bobs, '/history');
      expect(await bobs.locator('tbody tr').count()).to.equal(1);
    } finally {
      await other.close();
    }
  });

  it('runs nothing that an e-mail address, a name or a browser’s name says', async () => {
    const hostile = `<img src=x onerror="document.title='taken'">`;
    const account = await server.ledger.createAccount({
      email: `"><img/src=x/onerror=alert(1)>@example.com`,
      name: hostile,
    });
    await server.ledger.createKey({ accountId: account.id, name: hostile, scopes: [] });
    const odd = await browser.newContext({ userAgent: hostile });
    try {
      const page = await signedIn({ ...ann, account }, odd);
      let dialogs = 0;
      page.on('dialog', (dialog) => {
        dialogs += 1;
        void dialog.dismiss();
      });
      for (const path of PAGES) {
        await go(page, path);
        expect(await page.locator('img').count(), path).to.equal(0);
        expect(await page.title()).to.contain('Verbatim');
      }
      expect(dialogs).to.equal(0);
    } finally {
      await odd.close();
    }
  });

  it('is no frame of another page, and takes no form from one', async () => {
    await signedIn();
    const { token } = await server.ledger.access.createLink(ann.account.id);
    await server.ledger.access.useLink(token, { browser: 'another', address: '' });
    const page = await context.newPage();
    const evil = await TestServer.start();
    try {
      await page.route(`${evil.url}/evil`, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<iframe src="${server.url}/dashboard"></iframe>
            <form method="post" action="${server.url}/dashboard/account/sessions/end-others"><button>win</button></form>`,
        }),
      );
      await page.goto(`${evil.url}/evil`);
      const frame = page.frames().find((one) => one !== page.mainFrame());
      expect(frame?.url()).to.equal('chrome-error://chromewebdata/');
      await page.getByRole('button', { name: 'win' }).click();
      await page.getByText('not sent by a page of this server').waitFor();
      expect(await server.ledger.access.listSessions(ann.account.id)).to.have.length(2);
    } finally {
      await evil.dispose();
    }
  });

  describe('every page', () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`has nothing that axe-core objects to, ${colorScheme}`, async () => {
        await speak();
        await context.close();
        context = await browser.newContext({ colorScheme });
        const page = await signedIn();
        for (const path of [...PAGES, `/keys/${ann.key.id}/revoke`, '/nowhere', '/sign-in', '/link']) {
          await go(page, path);
          expect(await axeViolations(page), path).to.deep.equal([]);
        }
        await server.ledger.access.setRole(ann.account.id, 'operator');
        for (const path of ['', `/${(await server.customer()).account.id}/delete`, `/${ann.account.id}`]) {
          await go(page, `/operator/accounts${path}`);
          expect(await axeViolations(page), path).to.deep.equal([]);
        }
        await page.getByRole('button', { name: 'Make a sign-in link' }).click();
        expect(await axeViolations(page), 'a link').to.deep.equal([]);
        for (const path of ['load', 'server', 'audit']) {
          await go(page, `/operator/${path}`);
          expect(await axeViolations(page), path).to.deep.equal([]);
        }
        await go(page, '/keys');
        await page.getByLabel('What it is for').fill('axe');
        await page.getByRole('button', { name: 'Make key' }).click();
        expect(await axeViolations(page), 'a new key').to.deep.equal([]);
      });
    }

    it('shows an operator the load as it changes', async () => {
      const page = await signedIn();
      await server.ledger.access.setRole(ann.account.id, 'operator');
      await page.addInitScript(`
        window.written = [];
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
          window.written.push(text);
          return write.call(this, text, ...where);
        };`);
      await go(page, '/operator/load');
      const figure = page.locator('[data-load=requestsInFlight]');
      expect(await figure.textContent()).to.equal('0');
      server.engine.holdAll();
      const asked = transcribe(server, { key: ann.key, parts: [['audio', fakeAudio(9)]] });
      await page.getByRole('cell', { name: ann.account.email }).waitFor();
      expect(await figure.textContent()).to.equal('1');
      server.engine.release();
      expect((await asked).status).to.equal(200);
      await page.getByRole('cell', { name: 'Nobody' }).waitFor();
      expect(await page.locator('#chart canvas').count()).to.equal(1);
      const written = await page.evaluate<string[]>('window.written');
      expect(written.filter((text) => /[ap]m/i.test(text))).to.deep.equal([]);
      expect(written.filter((text) => /^\d\d:\d\d:\d\d$/.test(text))).to.be.not.empty;
    });

    it('fits 320 pixels', async () => {
      await speak();
      await context.close();
      context = await browser.newContext({ viewport: { width: 320, height: 640 } });
      const page = await signedIn();
      await server.ledger.access.setRole(ann.account.id, 'operator');
      const operated = ['/accounts', `/accounts/${ann.account.id}`, '/load', '/server', '/audit'].map(
        (path) => `/operator${path}`,
      );
      for (const path of [...PAGES, ...operated, '/sign-in', '/link', '/nowhere']) {
        await go(page, path);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.equal(320);
      }
      await go(page, '/keys');
      await page.getByLabel('What it is for').fill('narrow');
      await page.getByRole('button', { name: 'Make key' }).click();
      expect(await page.evaluate('document.documentElement.scrollWidth'), 'a new key').to.equal(320);
    });
  });
});
