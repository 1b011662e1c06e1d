import { expect } from 'chai';
import type { Account } from '../../../src/ledger/types.js';
import { browserOf, buildDashboard, HttpBrowser, rowsOf } from '../../support/dashboard.js';
import { EventReader } from '../../support/event-reader.js';
import { FakeEngine } from '../../support/fake-engine.js';
import { fixedModel } from '../../support/fixed-model.js';
import { fixedEngines } from '../../../src/transcription/engine-lease.js';
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

  it('group the settings, those that were changed first, and find them by a part of their names', async () => {
    const page = '/dashboard/operator/server';
    const { text } = await browser.get(page);
    expect(text).to.contain('<h3>Limits</h3>').and.to.contain('<h3>Prices</h3>').and.not.to.contain('Changed from');
    const variables = rowsOf(text).map(([variable]) => variable);
    expect(variables).to.include('VERBATIM_PORT').and.to.have.length(new Set(variables).size);
    const found = await browser.get(`${page}?filter=PER_minute`);
    expect(rowsOf(found.text).map(([variable]) => variable)).to.deep.equal([
      'VERBATIM_CREDITS_PER_MINUTE',
      'VERBATIM_TRANSLATION_CREDITS_PER_MINUTE',
      'VERBATIM_DIARIZATION_CREDITS_PER_MINUTE',
    ]);
    expect(rowsOf((await browser.get(`${page}?filter=prices`)).text)).to.have.length(3);
    const none = await browser.get(`${page}?filter=%3Cb%3Ex`);
    expect(none.text).to.contain('No setting matches.').and.to.contain('value="&lt;b&gt;x"').and.not.to.contain('<b>x');
  });

  it('show the model for this machine first, with its speed and size, and what is in memory', async () => {
    const page = '/dashboard/operator/models';
    expect((await browser.get(page)).text)
      .to.contain('has not been measured')
      .and.to.contain('no limit is set');
    await server.dispose();
    const memory = { limit: 4 * 2 ** 30, used: 2 ** 30, makeRoom: () => Promise.resolve(true) };
    const models = ['base', 'base-q5_1', 'base-q8_0', 'small-q8_0'].map((name) => ({
      ...{ name, kind: 'speech', licence: 'MIT', state: 'available' as const, receivedBytes: 0 },
      ...{ totalBytes: 80 * 2 ** 20, problem: null },
    }));
    const engine = new FakeEngine();
    server = await TestServer.start({
      engine,
      modelStore: { list: () => models, download: () => undefined, cancel: () => false },
      machineModel: () => ({ name: 'small-q8_0', speed: 12.4 }),
      engines: {
        ...{ acquire: fixedEngines(engine, undefined), backlog: engine.backlog, memory },
        models: fixedModel(engine.info.modelName),
      },
    });
    operator = await server.ledger.accounts.create({ email: 'op@example.com' });
    await server.ledger.access.setRole(operator.id, 'operator');
    browser = await browserOf(server, operator);
    const { text } = await browser.get(page);
    expect(text).to.contain('12 × real time').and.to.contain('1,024 of 4,096 MiB').and.to.contain('value="25"');
    const names = rowsOf(text).map(([name]) => name!.replace(/\s+/g, ' ').split(' ')[0]);
    expect(names).to.deep.equal([engine.info.modelName, 'small-q8_0', 'base-q8_0']);
    expect(text).to.match(/2 other sizes[^]*base-q5_1/);
    for (const { name } of models) expect(text).to.contain(`action="${page}/${name}/download"`);
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
