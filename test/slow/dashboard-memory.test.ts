/** A dashboard that is open all day: what its scripts keep of ten thousand events. */
import { expect } from 'chai';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { Account } from '../../src/ledger/types.js';
import { launchChromium } from '../support/chromium.js';
import { DashboardPages } from '../support/dashboard-pages.js';
import { buildDashboard } from '../support/dashboard.js';
import { TestServer } from '../support/server.js';

const EVENTS_AN_ANSWER = 500;

interface Kept {
  heapBytes: number;
  nodes: number;
  listeners: number;
}

describe('a dashboard that is open all day', function () {
  this.timeout(600_000);
  let browser: Browser;
  let server: TestServer;
  let pages: DashboardPages;
  let operator: Account;

  before(async () => {
    buildDashboard();
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    server = await TestServer.start();
    pages = new DashboardPages(browser, server);
    operator = await server.ledger.accounts.create({ email: 'op@example.com' });
    await server.ledger.access.setRole(operator.id, 'operator');
  });
  afterEach(async () => {
    await pages.close();
    await server.dispose();
  });

  it('keeps nothing of ten thousand events of the load', async () => {
    const page = await pages.signedIn(operator, await pages.context());
    const stream = await streamOf(page);
    await page.goto(`${server.url}/dashboard/operator/load`);
    const session = await page.context().newCDPSession(page);
    await stream.upTo(1000);
    const early = await keptBy(session);
    await stream.upTo(10_000);
    const late = await keptBy(session);
    console.log(`after 1,000 events: ${reported(early)}; after 10,000: ${reported(late)}`);
    expect(late.nodes, 'nodes').to.be.at.most(early.nodes + 50);
    expect(late.listeners, 'listeners').to.be.at.most(early.listeners + 10);
    // 9,000 events of some 2 KiB each would be 18 MiB.
    expect(late.heapBytes - early.heapBytes, 'bytes of heap').to.be.below(1 << 20);
    expect(pages.complaints).to.deep.equal([]);
  });
});

async function metric(session: CDPSession, name: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((one) => one.name === name)?.value ?? NaN;
}

/** Of what is reachable. */
async function keptBy(session: CDPSession): Promise<Kept> {
  await session.send('Performance.enable');
  await session.send('HeapProfiler.enable');
  for (let n = 0; n < 3; n++) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const [nodes, listeners] = [await metric(session, 'Nodes'), await metric(session, 'JSEventListeners')];
  return { heapBytes: usedSize, nodes, listeners };
}

const reported = ({ heapBytes, nodes, listeners }: Kept): string =>
  `${(heapBytes / 2 ** 20).toFixed(2)} MiB, ${nodes} nodes, ${listeners} listeners`;

/** Answers for the server: a day's events, as fast as the page takes them. */
async function streamOf(page: Page): Promise<{ upTo(count: number): Promise<void> }> {
  let sent = 0;
  let wanted = 0;
  let waiting: (() => void) | null = null;
  const reached = new Map<number, () => void>();
  await page.route('**/operator/load/events', async (route) => {
    // Whoever asks again has read what was sent.
    reached.get(sent)?.();
    if (sent >= wanted) await new Promise<void>((resolve) => (waiting = resolve));
    const events = Array.from({ length: EVENTS_AN_ANSWER }, (_, n) => eventOf(sent + n));
    sent += EVENTS_AN_ANSWER;
    const body = `${events.join('')}event: again\ndata: {}\n\n`;
    await route.fulfill({ contentType: 'text/event-stream; charset=utf-8', body });
  });
  return {
    upTo: (count) =>
      new Promise((resolve) => {
        reached.set(count, resolve);
        wanted = count;
        waiting?.();
      }),
  };
}

/** The number of the second is in all of it, so that every figure and row is written again. */
function eventOf(second: number): string {
  const at = new Date(Date.UTC(2026, 10, 22) + 1000 * second).toISOString();
  const names = ['at', 'busySlots', 'backlogSeconds', 'requestsInFlight', 'memoryBytes'];
  const load = {
    ...{ at, slots: 4, busySlots: second % 5, backlogSeconds: (second * 7) % 3600 },
    figures: Object.fromEntries(names.map((name) => [name, `${name} ${second}`])),
    rows: Array.from({ length: 1 + (second % 20) }, (_, n) => [`account${n}@example.com`, `${second}`, '1', '2', '3']),
  };
  return `event: load\ndata: ${JSON.stringify(load)}\n\n`;
}
