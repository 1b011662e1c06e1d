/** /docs/guide in Chromium: how somebody reads the manual. */
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { TestServer } from '../../support/server.js';

describe('/docs/guide in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser;
  let server: TestServer;
  /** What the browser complains of, and what it asks other servers for. */
  let complaints: string[];

  before(async () => {
    browser = await launchChromium();
    server = await TestServer.start();
  });
  beforeEach(() => {
    complaints = [];
  });
  after(async () => {
    await browser.close();
    await server.dispose();
  });

  async function opened(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !request.url().startsWith('data:')) complaints.push(request.url());
    });
    await page.goto(`${server.url}/docs/guide${path}`);
    return page;
  }

  it('finds a setting by its name, without a network', async () => {
    const page = await opened('/');
    await page.locator('body').press('Control+k');
    await page.locator('.VPLocalSearchBox input').fill('VERBATIM_WEBHOOK_ALLOW');
    const found = page.locator('.VPLocalSearchBox .result').filter({ hasText: 'VERBATIM_WEBHOOK_ALLOW' }).first();
    await found.click();
    await page.getByRole('heading', { name: 'VERBATIM_WEBHOOK_ALLOW' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/docs/guide/settings');
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('leads from page to page, and to the heading that a link names', async () => {
    const page = await opened('/api');
    await page.getByRole('link', { name: 'VERBATIM_MAX_OPEN_JOBS' }).click();
    await page.getByRole('heading', { name: 'VERBATIM_MAX_OPEN_JOBS' }).waitFor();
    expect(page.url()).to.equal(`${server.url}/docs/guide/settings#verbatim_max_open_jobs`);
    await page.getByRole('link', { name: 'API reference' }).first().click();
    await page.locator('#ui .info').waitFor();
    expect(new URL(page.url()).pathname).to.equal('/docs');
    await page.context().close();
  });

  it('is dark where the system is, or the reader says so', async () => {
    const isDark = (page: Page): Promise<boolean> =>
      page.evaluate("document.documentElement.classList.contains('dark')");
    const dark = await opened('/settings', { colorScheme: 'dark' });
    expect(await isDark(dark)).to.equal(true);
    await dark.context().close();
    const page = await opened('/settings', { colorScheme: 'light' });
    expect(await isDark(page)).to.equal(false);
    await page.getByRole('switch').first().click();
    expect(await isDark(page)).to.equal(true);
    await page.reload();
    expect(await isDark(page)).to.equal(true);
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 360])
      it(`has nothing that axe-core objects to, ${colorScheme}, ${width} pixels wide`, async () => {
        for (const path of width === 1280 ? ['/', '/settings', '/api'] : ['/', '/settings']) {
          const page = await opened(path, { colorScheme, viewport: { width, height: 800 } });
          expect(await axeViolations(page), path).to.deep.equal([]);
          await page.context().close();
        }
        expect(complaints).to.deep.equal([]);
      });
});
