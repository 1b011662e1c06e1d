/** Every page of the dashboard in Chromium: accessible, narrow, and drawn as it should be. */
import { expect } from 'chai';
import { axeViolations } from '../../support/chromium.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { spokenPcm } from '../../support/live-audio.js';
import { transcribe } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { SocketClient } from '../../support/socket-client.js';
import { until } from '../../support/until.js';
import { PAGES, useBrowserFixture } from './browser-fixture.js';

describe('dashboard: every page in Chromium', function () {
  this.timeout(120_000);
  const fixture = useBrowserFixture();

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has nothing that axe-core objects to, ${colorScheme}`, async () => {
      await fixture.speak();
      await fixture.context.close();
      fixture.context = await fixture.browser.newContext({ colorScheme });
      const page = await fixture.signedIn();
      for (const path of [...PAGES, `/keys/${fixture.ann.key.id}/revoke`, '/nowhere', '/sign-in', '/link']) {
        await fixture.go(page, path);
        expect(await axeViolations(page), path).to.deep.equal([]);
      }
      await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
      for (const path of [
        '',
        `/${(await fixture.server.customer()).account.id}/delete`,
        `/${fixture.ann.account.id}`,
      ]) {
        await fixture.go(page, `/operator/accounts${path}`);
        expect(await axeViolations(page), path).to.deep.equal([]);
      }
      for (const action of ['role', 'suspend']) {
        await fixture.go(page, `/operator/accounts/${(await fixture.server.customer()).account.id}/${action}`);
        expect(await axeViolations(page), action).to.deep.equal([]);
      }
      await fixture.go(page, `/operator/accounts/${fixture.ann.account.id}`);
      await page.getByRole('button', { name: 'Create a sign-in link' }).click();
      expect(await axeViolations(page), 'a link').to.deep.equal([]);
      for (const path of ['load', 'models', 'server', 'audit']) {
        await fixture.go(page, `/operator/${path}`);
        expect(await axeViolations(page), path).to.deep.equal([]);
      }
      await fixture.go(page, '/keys');
      await page.getByLabel('What it is for').fill('axe');
      await page.getByRole('button', { name: 'Create key' }).click();
      expect(await axeViolations(page), 'a new key').to.deep.equal([]);
    });
  }

  it('shows an operator the load as it changes', async () => {
    const page = await fixture.signedIn();
    await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
    await page.addInitScript(`
      window.written = [];
      const write = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
        window.written.push(text);
        return write.call(this, text, ...where);
      };`);
    await fixture.go(page, '/operator/load');
    const figure = page.locator('[data-load=requestsInFlight]');
    expect(await figure.textContent()).to.equal('0');
    fixture.server.engine.holdAll();
    const asked = transcribe(fixture.server, { key: fixture.ann.key, parts: [['audio', fakeAudio(9)]] });
    await page.getByRole('cell', { name: fixture.ann.account.email }).waitFor();
    expect(await figure.textContent()).to.equal('1');
    fixture.server.engine.release();
    expect((await asked).status).to.equal(200);
    await page.getByRole('cell', { name: 'Nobody' }).waitFor();
    expect(await page.locator('[data-chart] canvas').count()).to.equal(4);
    const written = await page.evaluate<string[]>('window.written');
    expect(written.filter((text) => /[ap]m/i.test(text))).to.deep.equal([]);
    expect(written.filter((text) => /^\d\d:\d\d$/.test(text))).to.be.not.empty;
  });

  it('shows an operator the live sessions, and the delay of their texts', async () => {
    const page = await fixture.signedIn();
    await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
    await fixture.go(page, '/operator/load');
    const figure = async (name: string): Promise<string> =>
      (await page.locator(`[data-load=${name}]`).textContent()) ?? '';
    expect(await figure('liveSessions')).to.match(/^0 \/ \d+$/);
    expect(await figure('liveLagMs')).to.equal('not measured yet');
    const url = `${fixture.server.url}/v1/listen?encoding=linear16&sample_rate=16000`;
    const client = await SocketClient.connect(url, [], { headers: bearer(fixture.ann.key) });
    client.socket.send(spokenPcm());
    await until(async () => /^1 \/ \d+$/.test(await figure('liveSessions')));
    await until(async () => /^\d+ \/ \d+ ms$/.test(await figure('liveLagMs')));
    expect(await figure('liveRefusals')).to.equal('0');
    client.send({ type: 'CloseStream' });
    await until(async () => /^0 \/ \d+$/.test(await figure('liveSessions')));
  });

  it('draws a chart for each unit of the load, in the reader’s zone, with axes that say nothing twice', async () => {
    await fixture.context.close();
    const viewport = { width: 360, height: 640 };
    fixture.context = await fixture.browser.newContext({ viewport, timezoneId: 'Asia/Kathmandu' });
    const page = await fixture.signedIn();
    await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
    // What the last drawing of each chart wrote.
    await page.addInitScript(`
      const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
      const written = new Map();
      window.writtenIn = (canvas) => written.get(canvas) ?? [];
      CanvasRenderingContext2D.prototype.clearRect = function (...where) {
        written.set(this.canvas, []);
        return clearRect.call(this, ...where);
      };
      CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
        written.get(this.canvas)?.push(text);
        return fillText.call(this, text, ...where);
      };`);
    await fixture.go(page, '/operator/load');
    expect(await page.locator('[data-load=realTimeFactor]').textContent()).to.equal('not measured yet');
    const texts = (): Promise<string[][]> =>
      page.evaluate<string[][]>("[...document.querySelectorAll('[data-chart] canvas')].map(window.writtenIn)");
    await until(async () => (await texts()).every((written) => written.some((text) => text.includes(':'))));
    const drawn = await texts();
    expect(drawn).to.have.length(4);
    for (const written of drawn) {
      const times = written.filter((text) => text.includes(':'));
      // 12:00 UTC is 17:45 there.
      expect(
        times.every((time) => /^17:[34]\d$/.test(time)),
        times.join(),
      ).to.equal(true);
      expect(times).to.have.length.within(2, 6);
      const counts = written.filter((text) => !text.includes(':'));
      expect(new Set(counts)).to.have.property('size', counts.length);
      expect(
        counts.every((count) => /^[\d,]+$/.test(count)),
        counts.join(),
      ).to.equal(true);
    }
    expect(await page.locator('[data-chart] [role=img]').first().getAttribute('aria-label')).to.contain('ten minutes');
  });

  it('fits 320 pixels', async () => {
    await fixture.speak();
    await fixture.context.close();
    fixture.context = await fixture.browser.newContext({ viewport: { width: 320, height: 640 } });
    const page = await fixture.signedIn();
    await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
    const operated = ['/accounts', `/accounts/${fixture.ann.account.id}`, '/load', '/models', '/server', '/audit'].map(
      (path) => `/operator${path}`,
    );
    for (const path of [...PAGES, ...operated, '/sign-in', '/link', '/nowhere']) {
      await fixture.go(page, path);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.equal(320);
    }
    await fixture.go(page, '/keys');
    await page.getByLabel('What it is for').fill('narrow');
    await page.getByRole('button', { name: 'Create key' }).click();
    expect(await page.evaluate('document.documentElement.scrollWidth'), 'a new key').to.equal(320);
  });
});
