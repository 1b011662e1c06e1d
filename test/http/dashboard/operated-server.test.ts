import { expect } from 'chai';
import type { Account } from '../../../src/ledger/types.js';
import { browserOf, buildDashboard, HttpBrowser } from '../../support/dashboard.js';
import { EventReader } from '../../support/event-reader.js';
import { TestServer } from '../../support/server.js';

const PATHS = ['load', 'load/events', 'server', 'audit'].map((name) => `/dashboard/operator/${name}`);

describe('dashboard: the operator’s load and server', () => {
  let server: TestServer;
  let operator: Account;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    server = await TestServer.start();
    operator = await server.ledger.accounts.create({ email: 'op@example.com' });
    await server.ledger.access.setRole(operator.id, 'operator');
    browser = await browserOf(server, operator);
  });
  afterEach(() => server.dispose());

  it('are for operators alone: to others there is nothing', async () => {
    const anns = await browserOf(server, (await server.customer()).account);
    for (const path of PATHS) {
      expect((await anns.get(path)).status, path).to.equal(404);
      const stranger = (await new HttpBrowser(server).get(path)).status;
      expect(stranger, path).to.equal(path.endsWith('events') ? 404 : 303);
    }
  });

  it('report version, models and settings', async () => {
    const { status, text } = await browser.get('/dashboard/operator/server');
    expect(status).to.equal(200);
    expect(text).to.contain('0.0.0-test').and.to.contain(server.engine.info.modelName);
    expect((await browser.get('/dashboard/operator/models')).text).to.contain('large-v3');
    expect(text).to.contain('VERBATIM_MAX_IN_FLIGHT').and.to.contain('64');
  });

  it('audit the ledger', async () => {
    expect((await browser.get('/dashboard/operator/audit')).text).to.contain('The ledger balances');
    server.ledger.audit = () => Promise.resolve([{ invariant: 'sums', detail: 'a credit <is> missing' }]);
    const { text } = await browser.get('/dashboard/operator/audit');
    expect(text).to.contain('does not balance').and.to.contain('a credit &lt;is&gt; missing');
  });

  it('show the load, and keep it current', async () => {
    const { text } = await browser.get('/dashboard/operator/load');
    expect(text).to.contain('Busy slots').and.to.contain('data-events="/dashboard/operator/load/events"');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const init = { method: 'GET', headers: { cookie } };
    const events = await EventReader.open(server, '/dashboard/operator/load/events', init);
    const first = await events.next();
    expect(first?.event).to.equal('load');
    expect(first?.data).to.include({ requestsInFlight: 0, busyAccounts: 0 });
    await events.cancel();
  });
});
