/** The dashboard of a test server in Chromium. */
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../../support/chromium.js';
import { buildDashboard, CHEAP_PASSWORDS } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { transcribe } from '../../support/requests.js';
import { TestServer, type Customer, type TestServerOptions } from '../../support/server.js';
import { DashboardPages } from '../../support/dashboard-pages.js';

/** The pages of every account. */
export const PAGES = ['', '/try', '/usage', '/keys', '/history', '/account', '/help'];

/** One Chromium for all tests of a block; for each of them a server, an account and a profile. */
export class BrowserFixture {
  browser!: Browser;
  server!: TestServer;
  pages!: DashboardPages;
  context!: BrowserContext;
  ann!: Customer;
  now = 0;

  /** `parts`: of the server, beside those of every test server. */
  constructor(private readonly parts: () => TestServerOptions) {}

  async open(): Promise<void> {
    this.now = Date.UTC(2026, 10, 22, 12);
    this.server = await TestServer.start({
      ledgerOptions: { clock: () => this.now },
      settings: { passwordCost: CHEAP_PASSWORDS },
      ...this.parts(),
    });
    this.pages = new DashboardPages(this.browser, this.server);
    this.ann = await this.server.customer(250);
    this.context = await this.pages.context();
  }

  async close(): Promise<void> {
    await this.pages.close();
    await this.server.dispose();
    expect(this.pages.complaints).to.deep.equal([]);
    expect(this.pages.foreign).to.deep.equal([]);
  }

  signedIn(customer = this.ann, context = this.context): Promise<Page> {
    return this.pages.signedIn(customer.account, context);
  }

  async speak(customer = this.ann): Promise<void> {
    const { status } = await transcribe(this.server, { key: customer.key, parts: [['audio', fakeAudio(90)]] });
    expect(status).to.equal(200);
  }

  async go(page: Page, path: string): Promise<void> {
    await page.goto(`${this.server.url}/dashboard${path}`);
  }
}

export function useBrowserFixture(parts: () => TestServerOptions = () => ({})): BrowserFixture {
  const fixture = new BrowserFixture(parts);
  before(async () => {
    buildDashboard();
    fixture.browser = await launchChromium();
  });
  after(() => fixture.browser.close());
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());
  return fixture;
}
