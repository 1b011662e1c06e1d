/** The models of the operator's page: who may download them, what is written down, and how it looks in Chromium. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { ModelRefused } from '../../../src/errors.js';
import type { ModelState, ModelSwitch } from '../../../src/models/model-switch.js';
import type { Account } from '../../../src/ledger/types.js';
import { fixedModel } from '../../support/fixed-model.js';
import { fixedEngines } from '../../../src/transcription/engine-lease.js';
import { ModelDownloads } from '../../../src/service/model-downloads.js';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { DashboardPages } from '../../support/dashboard-pages.js';
import { browserOf, buildDashboard, HttpBrowser, rowsOf } from '../../support/dashboard.js';
import { FakeEngine } from '../../support/fake-engine.js';
import { ModelHub } from '../../support/model-hub.js';
import { TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

const PAGE = '/dashboard/operator/models';

describe('dashboard: the operator’s models', function () {
  this.timeout(240_000);
  let hub: ModelHub;
  let modelStore: ModelDownloads;
  /** Stands in for the switch of the models, whose own tests are test/http/hot-swap.test.ts. */
  let use: ModelSwitch['use'];
  let turn: ModelState | null;
  let server: TestServer;
  let operator: Account;
  let browser: HttpBrowser;

  before(buildDashboard);
  beforeEach(async () => {
    hub = await ModelHub.start();
    hub.register(['toy', 'other']);
    const logger = { info: () => undefined, warn: () => undefined };
    modelStore = new ModelDownloads({ context: hub.context, logger });
    use = () => undefined;
    turn = null;
    const engine = new FakeEngine();
    const here = fixedModel(engine.info.modelName);
    const models: ModelSwitch = {
      state: () => turn ?? here.state(),
      use: (name, by) => use(name, by),
    };
    server = await TestServer.start({
      modelStore,
      engine,
      engines: { acquire: fixedEngines(engine, undefined), backlog: engine.backlog, models },
    });
    operator = await server.ledger.accounts.create({ email: 'op@example.com' });
    await server.ledger.access.setRole(operator.id, 'operator');
    browser = await browserOf(server, operator);
  });
  afterEach(async () => {
    await modelStore.close();
    await server.dispose();
    await hub.close();
  });

  const stored = (name: string) => modelStore.list().find((model) => model.name === name);
  const stateOf = (name: string) => stored(name)?.state;
  const receivedOf = (name: string) => stored(name)?.receivedBytes;
  const noted = async () =>
    (await server.ledger.operators.list({ limit: 9, before: null })).map(({ action, subject }) => [action, subject]);

  it('are downloaded by operators alone, from their own page alone', async () => {
    const anns = await browserOf(server, (await server.customer()).account);
    for (const action of ['download', 'cancel', 'use']) {
      const path = `${PAGE}/toy/${action}`;
      expect((await anns.post(path)).status).to.equal(404);
      expect((await new HttpBrowser(server).post(path)).location).to.equal('/dashboard/sign-in');
      for (const site of ['cross-site', 'same-site', 'none']) {
        expect((await browser.post(path, {}, { 'sec-fetch-site': site })).status, site).to.equal(403);
      }
    }
    expect(stateOf('toy')).to.equal('available');
    expect(await noted(), 'nothing was asked for by an operator').to.deep.equal([]);
  });

  it('are refused by name when there is no such model, or nothing to download or to cancel', async () => {
    const unknown = await browser.post(`${PAGE}/nothing/download`);
    expect(unknown.status).to.equal(400);
    expect(unknown.text).to.contain('There is no model &quot;nothing&quot;. The nearest names are');
    expect((await browser.post(`${PAGE}/verbatim-small/download`)).text).to.contain('installed already');
    const idle = await browser.post(`${PAGE}/toy/cancel`);
    expect(idle.status).to.equal(409);
    expect(idle.text).to.contain('The model &quot;toy&quot; is not being downloaded');
    const hostile = await browser.post(`${PAGE}/${encodeURIComponent('<b>x</b>')}/download`);
    expect(hostile.text).to.contain('&lt;b&gt;x').and.not.to.contain('<b>x');
  });

  it('are listed with what can be done about them, and what was asked for is written down', async () => {
    hub.sentBytes = 1 << 20;
    const row = async (name: string) => rowsOf((await browser.get(PAGE)).text).find(([first]) => first === name) ?? [];
    expect(await row('toy')).to.deep.equal(['toy', 'speech', '3', 'MIT', 'not installed', 'Download']);
    const { location } = await browser.post(`${PAGE}/toy/download`);
    expect((await browser.get(location!)).text).to.contain('The download has started.');
    // What is reported is rounded: from half of it on.
    await until(() => receivedOf('toy') === 1 << 20);
    expect((await row('toy'))[4]).to.contain('1 of 3 MiB');
    const page = (await browser.get(PAGE)).text;
    expect(page).to.match(/<progress max="100" value="33" aria-label="Download of toy">/);
    expect(page).to.contain('data-running');
    await browser.post(`${PAGE}/toy/cancel`);
    await until(() => stateOf('toy') === 'available');
    expect(await row('toy')).to.include('not installed; 1 MiB downloaded');
    expect((await browser.get(PAGE)).text).not.to.contain('data-running');
    expect(await noted()).to.deep.equal([
      ['download-cancelled', 'toy'],
      ['model-downloaded', 'toy'],
    ]);
    const audit = rowsOf((await browser.get('/dashboard/operator/audit')).text);
    expect(audit[0]?.slice(1)).to.deep.equal(['op@example.com', 'cancel a model download', 'toy', '', 'done']);
  });

  it('take each other’s place when that is wanted, and what is refused is reported', async () => {
    writeFileSync(join(hub.directory, 'ggml-toy.bin'), hub.content);
    const used: [string, string][] = [];
    const serving = server.engine.info.modelName;
    turn = { serving, since: 0, afterRestart: serving, change: null, last: null };
    use = (name, by) => {
      if (name !== 'toy') throw new ModelRefused(`"${name}" has no room.`);
      used.push([name, by]);
    };
    expect((await browser.get(PAGE)).text).to.contain('aria-label="Use toy"');
    const { location } = await browser.post(`${PAGE}/toy/use`);
    expect(used).to.deep.equal([['toy', 'op@example.com']]);
    turn = { ...turn, change: { phase: 'draining', from: serving, to: 'toy', requests: 3 } };
    const begun = (await browser.get(location!)).text;
    expect(begun).to.contain('toy is in use; requests that still run with the previous model: 3.');
    expect(begun).to.contain('data-running').and.not.to.contain('aria-label="Use');
    const refused = await browser.post(`${PAGE}/other/use`);
    expect(refused.status).to.equal(409);
    expect(refused.text).to.contain('&quot;other&quot; has no room.');
    turn = { ...turn, change: null, afterRestart: 'other', last: { to: 'toy', error: 'it detects nothing.' } };
    const failed = (await browser.get(PAGE)).text;
    expect(failed).to.contain('toy was not put into service: it detects nothing.');
    expect(failed).to.contain('After a restart, other will be in use.');
    expect((await noted())[0]).to.deep.equal(['model-used', 'other']);
  });

  describe('in Chromium', () => {
    let chromium: Browser;
    let pages: DashboardPages;

    before(async () => (chromium = await launchChromium()));
    after(() => chromium.close());
    beforeEach(() => (pages = new DashboardPages(chromium, server)));
    afterEach(() => pages.close());

    it('are downloaded by the keyboard; progress goes on without a reload, and without the page', async () => {
      hub.sentBytes = 1 << 20;
      const context = await pages.context();
      const page = await pages.signedIn(operator, context);
      await page.goto(server.url + PAGE);
      await page.getByRole('button', { name: 'Download toy' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('The download has started.').waitFor();
      const bar = page.getByRole('progressbar', { name: 'Download of toy' });
      await page.locator('progress[value="33"]').waitFor();
      await page.getByText('1 of 3 MiB').waitFor();
      expect(await bar.getAttribute('value')).to.equal('33');
      expect(await axeViolations(page)).to.deep.equal([]);
      await page.close();
      hub.release();
      await until(() => stateOf('toy') === 'installed');
      const again = await pages.open(context);
      await again.goto(server.url + PAGE);
      const row = again.getByRole('row', { name: /^toy/ });
      expect(await row.textContent()).to.contain('installed');
      hub.sentBytes = 1 << 20;
      await again.getByRole('button', { name: 'Download other' }).click();
      const cancel = again.getByRole('button', { name: 'Cancel the download of other' });
      await cancel.focus();
      await again.getByText('1 of 3 MiB').waitFor();
      expect(await cancel.evaluate('document.activeElement.getAttribute("aria-label")')).to.contain('other');
      hub.release();
      await again.getByRole('row', { name: /^other.* installed/ }).waitFor();
      expect(await again.getByRole('progressbar').count()).to.equal(0);
      expect(pages.complaints).to.deep.equal([]);
      expect(pages.foreign).to.deep.equal([]);
    });
  });
});
