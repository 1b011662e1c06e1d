/** What people do with the dashboard in Chromium, from one page to the next, and what comes of it elsewhere. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { DashboardPages } from '../../support/dashboard-pages.js';
import { buildDashboard, CHEAP_PASSWORDS } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, postJob } from '../../support/jobs.js';
import { TestServer, type Customer } from '../../support/server.js';

const PASSWORD = 'correct horse battery staple';
const FOCUSABLE = 'a[href], button, input, select, textarea, summary, audio[controls], [tabindex="0"]';

describe('dashboard: in use, in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser;
  /** As its owner can set it. Playwright's own switch leaves out what pages have for this case. */
  let scriptless: Browser;
  let withoutScripts: DashboardPages;
  let server: TestServer;
  let pages: DashboardPages;
  let ann: Customer;
  let context: BrowserContext;

  before(async () => {
    buildDashboard();
    browser = await launchChromium();
    scriptless = await launchChromium(['--blink-settings=scriptEnabled=false']);
  });
  after(async () => {
    await browser.close();
    await scriptless.close();
  });
  beforeEach(async () => {
    server = await TestServer.start({ settings: { passwordCost: CHEAP_PASSWORDS } });
    pages = new DashboardPages(browser, server);
    withoutScripts = new DashboardPages(scriptless, server);
    ann = await server.customer(250);
    context = await pages.context();
  });
  afterEach(async () => {
    server.engine.release();
    await pages.close();
    await withoutScripts.close();
    await server.dispose();
    for (const { complaints, foreign } of [pages, withoutScripts]) {
      expect(complaints).to.deep.equal([]);
      expect(foreign).to.deep.equal([]);
    }
  });

  const go = (page: Page, path: string) => page.goto(`${server.url}/dashboard${path}`);

  it('a new management key transcribes by the page’s own line; revoked meanwhile, that request ends with 401', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-curl-'));
    try {
      writeFileSync(join(directory, 'recording.flac'), fakeAudio(61));
      const page = await pages.signedIn(ann.account, context);
      await go(page, '/keys');
      await page.getByLabel('What it is for').fill('for curl');
      await page.getByLabel('a management key').check();
      await page.getByRole('button', { name: 'Create key' }).click();
      const line = (await page.locator('#transcribe-command').textContent()) ?? '';
      const curl = async (): Promise<{ body: Record<string, unknown>; status: string }> => {
        const command = `${line} --silent --write-out '\\n%{http_code}'`;
        const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: directory });
        const [body = '', status = ''] = stdout.split('\n');
        return { body: JSON.parse(body) as Record<string, unknown>, status };
      };
      const first = await curl();
      expect(first.status).to.equal('200');
      expect(first.body).to.include({ text: 'Hello, World.', credits_used: 2 });
      server.engine.holdAll();
      const running = curl();
      await server.engine.untilRunning(1);
      await page.getByRole('link', { name: 'Back to the keys' }).click();
      await page.getByRole('link', { name: 'Revoke the key for curl' }).click();
      await page.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('The key is revoked.').waitFor();
      const { status, body } = await running;
      expect(status).to.equal('401');
      expect(body['error']).to.include({ code: 'invalid_api_key' });
      expect(await server.balance(ann)).to.equal(248);
      expect(await server.ledger.audit()).to.deep.equal([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('what an operator grants is there when its owner looks', async () => {
    const owner = await server.customer(0);
    await server.ledger.access.setRole(ann.account.id, 'operator');
    const other = await pages.signedIn(owner.account, await pages.context());
    const balance = (): Promise<string | null> => other.locator('.figures dd').first().textContent();
    expect(await balance()).to.equal('0');
    const page = await pages.signedIn(ann.account, context);
    await page.getByRole('link', { name: 'Customers' }).click();
    await page.getByRole('link', { name: owner.account.email }).click();
    await page.getByLabel('Credits', { exact: false }).first().fill('1234');
    await page.getByRole('button', { name: 'Grant credits' }).click();
    await page.getByText('The credits were granted.').waitFor();
    await other.reload();
    expect(await balance()).to.equal('1,234');
    expect(await server.balance(owner)).to.equal(1234);
  });

  it('jobs go on in the history while one looks, without a reload; and are cancelled there', async () => {
    server.engine.holdAll(1);
    const post = async (): Promise<string> => {
      const audio = fakeAudio(180, { text: 'One.|Two.' });
      return String((await postJob(server, ann.key, [['audio', audio]])).body['id']);
    };
    const id = await post();
    await server.engine.untilRunning(1);
    const page = await pages.signedIn(ann.account, context);
    await go(page, '/history');
    await page.evaluate('window.kept = true');
    const row = (of: string) => page.locator('tbody tr', { hasText: of });
    await row(id).getByText('50 %').waitFor();
    await row(id).getByRole('link').focus();
    expect(await axeViolations(page)).to.deep.equal([]);
    server.engine.release();
    await row(id).getByText('done', { exact: true }).waitFor();
    await row(id).getByRole('link', { name: 'Open the result' }).waitFor();
    expect(await page.evaluate('window.kept')).to.equal(true);
    server.engine.holdAll();
    const next = await post();
    await server.engine.untilRunning(1);
    await page.reload();
    const link = row(next).getByRole('link', { name: 'Cancel' });
    const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.textContent.trim()');
    // In a dialog, by the keyboard: Escape and the way back lead to where one was; what can be undone has the focus.
    for (const leave of ['Escape', 'Enter']) {
      await link.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Cancel a job' }).waitFor();
      expect(await focused()).to.equal('Keep it');
      expect(await axeViolations(page)).to.deep.equal([]);
      await page.keyboard.press(leave);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused()).to.equal('Cancel');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused()).to.equal('Cancel');
    await page.keyboard.press('Enter');
    await page.getByText('The job is cancelled.').waitFor();
    expect((await endedJob(server, ann.key, next))['status']).to.equal('cancelled');
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
  });

  it('without scripts: signing in by password, history, cancelling a job, keys', async () => {
    server.engine.holdAll();
    await postJob(server, ann.key, [['audio', fakeAudio(61)]]);
    await server.engine.untilRunning(1);
    const page = await withoutScripts.signedIn(ann.account, await withoutScripts.context());
    await go(page, '/account');
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('New password, again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').fill(ann.account.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await go(page, '/history');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The job is cancelled.').waitFor();
    await go(page, '/keys');
    expect(await page.locator('tbody tr').count()).to.be.above(1);
    await go(page, '/try');
    expect(await page.locator('main').innerText()).to.contain('This page needs JavaScript');
    expect(await page.locator('#try').isVisible()).to.equal(false);
  });

  it('is walked by Tab alone: all there is on each page, in its order, each seen to have the focus', async () => {
    await server.ledger.access.setRole(ann.account.id, 'operator');
    await postJob(server, ann.key, [['audio', fakeAudio(3)]]);
    const page = await pages.signedIn(ann.account, context);
    const links = await page
      .locator('header nav a')
      .evaluateAll((all) =>
        all.map((link) => (link as unknown as { pathname: string }).pathname.slice('/dashboard'.length)),
      );
    expect(links).to.include.members(['/try', '/usage', '/keys', '/history', '/account']);
    for (const path of [...links, `/keys/${ann.key.id}/revoke`, '/nowhere']) {
      await go(page, path);
      const wanted = await page.evaluate<number>(`(() => {
        const isSeen = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled;
        const inGroups = new Set();
        window.walked = [...document.querySelectorAll('${FOCUSABLE}')].filter((one) => {
          if (!isSeen(one) || one.tabIndex < 0) return false;
          if (one.type !== 'radio') return true;
          const isChosen = one.checked && !inGroups.has(one.name);
          if (isChosen) inGroups.add(one.name);
          return isChosen;
        });
        return window.walked.length;
      })()`);
      expect(wanted, path).to.be.above(1);
      const reached: number[] = [];
      for (let n = 0; n < wanted; n += 1) {
        await page.keyboard.press('Tab');
        const [index, outline] = await page.evaluate<[number, string]>(
          '[window.walked.indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle]',
        );
        reached.push(index);
        expect(outline, `${path}: ${index}`).not.to.equal('none');
      }
      expect(reached, path).to.deep.equal(reached.map((_, index) => index));
    }
  });

  it('would complain of a script that the page does not allow, and of a request elsewhere', async () => {
    const page = await pages.signedIn(ann.account, context);
    await page.evaluate(`document.head.append(Object.assign(document.createElement('script'), { textContent: '1' }))`);
    await page.evaluate("fetch('http://127.0.0.1:9/').catch(() => undefined)");
    expect(pages.complaints.splice(0).join()).to.contain('script-src').and.to.contain('connect-src');
    await page.goto(`${server.url}/docs`);
    expect(pages.foreign).not.to.deep.equal([]);
    pages.asked.splice(0);
    pages.complaints.splice(0);
  });
});
