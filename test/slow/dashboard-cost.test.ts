/**
 * What looking at the live page costs: processor time of `verbatim serve` as its own process (so `npm run build`
 * first), its engine's among it, with the page open and with another, in turns. WATCHED_S: seconds of a turn.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { processorMsOfAll } from '../../bench/processes/process-usage.js';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { median } from '../../bench/reports/statistics.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { launchChromium } from '../support/chromium.js';
import { DashboardPages } from '../support/dashboard-pages.js';
import { builtMain } from './built-main.js';

const WATCHED_S = Number(process.env['WATCHED_S'] ?? 60);
const TURNS = 3;
/** What the first look at a page costs is not what looking costs. */
const SETTLED_MS = 3000;
const LIVE = '/dashboard/operator/load';
const STILL = '/dashboard/account';

describe('the live page of the dashboard', function () {
  this.timeout(1_800_000);
  let server: VerbatimProcess;
  let ledger: Ledger;
  let browser: Browser;
  let pages: DashboardPages;

  before(async () => {
    server = await startVerbatim({ main: builtMain });
    ledger = openLedger({ path: join(server.directory, 'verbatim.db') });
    browser = await launchChromium();
    pages = new DashboardPages(browser, { url: server.url, ledger });
  });
  after(async () => {
    await browser.close();
    await ledger.close();
    await server.stop();
  });

  /** Of a core. */
  async function shareWith(page: Page, path: string): Promise<number> {
    await page.goto(server.url + path);
    await pause(SETTLED_MS);
    const before = processorMsOfAll(server.child.pid ?? 0);
    const start = performance.now();
    await pause(1000 * WATCHED_S);
    return (processorMsOfAll(server.child.pid ?? 0) - before) / (performance.now() - start);
  }

  it('takes less than a hundredth of a core of the server', async () => {
    const [operator] = await ledger.accounts.list();
    await ledger.access.setRole(operator!.id, 'operator');
    const page = await pages.signedIn(operator!, await pages.context());
    const more: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const still = await shareWith(page, STILL);
      const live = await shareWith(page, LIVE);
      expect(await page.locator('[data-load="eventLoopMs"]').textContent(), 'it is live').to.match(/^\d/);
      more.push(live - still);
      console.log(`of a core: ${percent(still)} without the page, ${percent(live)} with it`);
    }
    console.log(`the page adds ${percent(median(more))} (median of ${TURNS} turns of ${WATCHED_S} s)`);
    expect(median(more)).to.be.below(0.01);
  });
});

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
