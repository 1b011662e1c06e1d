import { expect } from 'chai';
import { daysLeft } from '../../../src/http/dashboard/credit-runway.js';
import { minutesByDay } from '../../../src/http/dashboard/seven-days.js';
import { DAY_MS, utcDay } from '../../../src/ledger/time.js';
import { browserOf, buildDashboard, rowsOf, type HttpBrowser } from '../../support/dashboard.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { transcribe } from '../../support/requests.js';
import { TestServer, type Customer } from '../../support/server.js';

const NOW = Date.UTC(2026, 10, 22, 12);
const inDays = (days: number): string => new Date(NOW + days * DAY_MS).toISOString();

describe('dashboard: how long credits last', () => {
  const pack = (remaining: number, expiresAt: string | null = null) => ({ remaining, expiresAt });

  it('is what is left, by what is spent a day', () => {
    expect(daysLeft([pack(100)], { spent: 70, days: 7 }, NOW)).to.equal(10);
    expect(daysLeft([pack(60), pack(40)], { spent: 10, days: 1 }, NOW)).to.equal(10);
    expect(daysLeft([], { spent: 10, days: 7 }, NOW)).to.equal(0);
  });

  it('is unknown where nothing is spent', () => {
    expect(daysLeft([pack(100)], { spent: 0, days: 7 }, NOW)).to.equal(null);
  });

  it('counts of a pack that expires what is spent before, and the others after it', () => {
    const packs = [pack(100), pack(1000, inDays(2))];
    expect(daysLeft(packs, { spent: 10, days: 1 }, NOW)).to.equal(12);
    const late = [pack(10, inDays(30)), pack(50, inDays(40)), pack(1000, inDays(-1))];
    expect(daysLeft(late, { spent: 10, days: 1 }, NOW)).to.equal(6);
  });
});

describe('dashboard: minutes by day', () => {
  it('have every day of the window, with all endpoints together', () => {
    const row = { requests: 1, credits: 1 };
    const usage = [
      { date: '2026-11-20', endpoint: '/api/v1/transcribe', minutes: 2, ...row },
      { date: '2026-11-22', endpoint: '/api/v1/transcribe', minutes: 3, ...row },
      { date: '2026-11-22', endpoint: '/api/v1/jobs', minutes: 4, ...row },
    ];
    expect(minutesByDay(usage, utcDay(NOW), 3)).to.deep.equal([
      { date: '2026-11-20', minutes: 2 },
      { date: '2026-11-21', minutes: 0 },
      { date: '2026-11-22', minutes: 7 },
    ]);
  });
});

describe('dashboard: Home', () => {
  let server: TestServer;
  let now: number;
  let ann: Customer;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    now = NOW;
    server = await TestServer.start({ ledgerOptions: { clock: () => now } });
    const account = await server.ledger.accounts.create({ email: 'ann@example.org' });
    await server.ledger.credits.grant({ accountId: account.id, amount: 100 });
    ann = { account } as Customer;
    browser = await browserOf(server, account);
  });
  afterEach(() => server.dispose());

  const home = async (): Promise<string> => (await browser.get('/dashboard')).text;
  const done = (text: string): number => text.split('>Done:<').length - 1;
  const makeKey = async () => {
    ann.key = await server.ledger.keys.create({ accountId: ann.account.id, name: 'mine', scopes: [] });
  };
  const speak = async (seconds: number) => transcribe(server, { key: ann.key, parts: [['audio', fakeAudio(seconds)]] });

  it('lists the first steps of a new account, with the state of each, until all are done', async () => {
    const fresh = await home();
    expect(done(fresh)).to.equal(0);
    expect(fresh).to.contain('0 of 3 steps').and.to.contain('Create an API key').and.not.to.contain('real model');
    expect(fresh).to.contain('Nothing was transcribed yet').and.to.contain('Nothing was spent in the last seven days');
    await makeKey();
    expect(done(await home())).to.equal(1);
    await speak(61);
    expect(await home()).not.to.contain('Get started');
  });

  it('counts neither the key of the dashboard nor what it is used for as a program’s', async () => {
    const { key } = { key: await server.ledger.access.dashboardKey(ann.account.id) };
    await server.ledger.keys.create({ accountId: ann.account.id, name: 'unused', scopes: [] });
    expect(key.name).to.equal('dashboard');
    expect(done(await home())).to.equal(1);
  });

  it('has for operators the step to a real model', async () => {
    await server.ledger.access.setRole(ann.account.id, 'operator');
    expect(await home())
      .to.contain('Use a real model')
      .and.to.contain('1 of 4 steps');
    server.engine.info.isDemonstration = true;
    expect(await home()).to.contain('0 of 4 steps');
  });

  it('says how long the credits last, and shows the last days and requests', async () => {
    await makeKey();
    await speak(61);
    now += DAY_MS;
    browser = await browserOf(server, ann.account);
    await speak(185);
    now += 1;
    const text = await home();
    // Two minutes and four in an account that is two days old, of 100.
    expect(text).to.contain('About 31 days at this pace.').and.to.contain('Of 100 granted in total.');
    expect(text).to.contain('2026-11-22: 2, 2026-11-23: 4.');
    expect(text.replace(/\s+/g, ' ')).to.match(/185 s · en.*4 credits.*61 s · en.*2 credits/);
  });

  it('shows what is at work', async () => {
    await makeKey();
    server.engine.holdAll();
    const running = speak(130);
    await server.engine.untilRunning(1);
    const text = await home();
    expect(text).to.contain('data-running').and.to.contain('At work');
    expect(rowsOf(text)[0]?.slice(2)).to.deep.equal(['running', '3']);
    server.engine.release();
    await running;
    expect(await home()).not.to.contain('At work');
  });

  it('is of one’s own account alone', async () => {
    await makeKey();
    const bob = await server.customer(777);
    await transcribe(server, { key: bob.key, parts: [['audio', fakeAudio(300)]] });
    const text = await home();
    expect(text).not.to.contain('777').and.not.to.contain('300 s');
  });
});
