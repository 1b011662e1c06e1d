/**
 * Pages of the dashboard in Chromium, watched: what they ask for, and what their scripts and the browser complain of.
 */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { SpeechEngine } from '../../src/engine/types.js';
import type { Account } from '../../src/ledger/types.js';
import type { TestServer } from './server.js';

export class DashboardPages {
  /** Addresses of all requests. */
  readonly asked: string[] = [];
  /** Errors of scripts, and violations of the content security policy. */
  readonly complaints: string[] = [];
  readonly #contexts: BrowserContext[] = [];

  constructor(
    private readonly browser: Browser,
    private readonly server: Pick<TestServer<SpeechEngine>, 'url' | 'ledger'>,
  ) {}

  /** A browser's profile of its own. */
  async context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext(options);
    this.#contexts.push(context);
    return context;
  }

  async open(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    page.on('request', (request) => void this.asked.push(request.url()));
    page.on('pageerror', (error) => void this.complaints.push(String(error)));
    page.on('console', (message) => {
      // A refusal of the server is shown there, too.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.complaints.push(message.text());
      }
    });
    return page;
  }

  /** By a link, whose button is pressed; on the first page then. */
  async signedIn(account: Account, context: BrowserContext): Promise<Page> {
    const page = await this.open(context);
    const { token } = await this.server.ledger.access.createLink(account.id);
    await page.goto(`${this.server.url}/dashboard/link?token=${token}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    return page;
  }

  /** What was asked of anything but the dashboard: third parties, above all. */
  get foreign(): string[] {
    const own = `${this.server.url}/dashboard`;
    return this.asked.filter((url) => !url.startsWith(own) && !url.startsWith(`blob:${this.server.url}`));
  }

  async close(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }
}
