/** What every page has, in Chromium: the menu, the theme, times, room for it all, and what it weighs. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { axeViolations } from '../../support/chromium.js';
import { showGallery } from '../../screenshots/gallery.js';
import { until } from '../../support/until.js';
import { PAGES, useBrowserFixture } from './browser-fixture.js';

const OPERATED = ['accounts', 'load', 'models', 'server', 'audit'].map((path) => `/operator/${path}`);
const MOST_BYTES = 200_000;

describe('dashboard: what every page has, in Chromium', function () {
  this.timeout(120_000);
  const fixture = useBrowserFixture();

  async function operatorWith(options: BrowserContextOptions): Promise<Page> {
    await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
    await fixture.context.close();
    fixture.context = await fixture.pages.context(options);
    return fixture.signedIn();
  }

  it('opens the menu of a narrow screen by the keyboard, and closes it by Escape', async () => {
    const page = await operatorWith({ viewport: { width: 360, height: 740 } });
    expect((await page.locator('header').boundingBox())?.height).to.be.at.most(64);
    const link = page.getByRole('link', { name: 'API keys' });
    expect(await link.isVisible()).to.equal(false);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent.trim()')).to.equal('Menu');
    await page.keyboard.press('Enter');
    await link.waitFor();
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await link.waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.textContent.trim()')).to.equal('Menu');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent.trim()')).to.equal('Home');
    await link.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    expect(await page.locator('[aria-current=page]').textContent()).to.contain('API keys');
  });

  it('opens the menu without scripts', async () => {
    const page = await operatorWith({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
  });

  it('leads a user to no page of operators, and an operator to all', async () => {
    const page = await fixture.signedIn();
    const names = async (): Promise<string[]> =>
      (await page.locator('header nav a').allTextContents()).map((n) => n.trim());
    const own = ['Home', 'Transcribe', 'Transcripts', 'Activity', 'Usage', 'API keys', 'Settings'];
    expect(await names()).to.deep.equal([...own, 'API reference', 'Help']);
    await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
    await page.reload();
    const operators = ['Customers', 'Live load', 'Models', 'Server', 'Audit'];
    expect(await names()).to.deep.equal([...own, ...operators, 'API reference', 'Help']);
  });

  it('changes the theme without loading the page, and keeps it', async () => {
    const page = await fixture.signedIn();
    const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.body).color');
    const light = await ground();
    await page.evaluate('window.isStill = true');
    await page.getByRole('button', { name: 'Dark' }).click();
    expect(await ground()).not.to.equal(light);
    expect(await page.evaluate('window.isStill')).to.equal(true);
    await until(async () => (await fixture.context.cookies()).some(({ name }) => name === 'verbatim-theme'));
    await fixture.go(page, '/usage');
    expect(await ground()).not.to.equal(light);
    expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).to.equal('true');
    await page.getByRole('button', { name: 'As the system' }).click();
    expect(await ground()).to.equal(light);
  });

  it('writes times in the reader’s zone, with UTC as their title', async () => {
    const page = await operatorWith({ timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
    await fixture.go(page, '/keys');
    const time = page.locator('td time').first();
    await page.getByText('22 Nov 2026, 21:00').first().waitFor();
    expect(await time.getAttribute('title')).to.equal('2026-11-22 12:00 UTC');
    expect(await time.getAttribute('datetime')).to.equal('2026-11-22T12:00:00.000Z');
    // What a script puts there later, too.
    await page.evaluate(`(() => {
      const later = document.createElement('p');
      later.innerHTML = '<time datetime="2026-01-01T00:00:00.000Z" title="x">x</time>';
      document.querySelector('main').append(later);
    })()`);
    await page.getByText('1 Jan 2026, 09:00').waitFor();
  });

  for (const [name, options] of [
    ['360 pixels', { viewport: { width: 360, height: 740 } }],
    ['a zoom of 200 %', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  ] as const) {
    it(`needs no scrolling to the side at ${name}, from right to left either`, async () => {
      await fixture.speak();
      const page = await operatorWith(options);
      for (const path of [...PAGES, ...OPERATED, `/operator/accounts/${fixture.ann.account.id}`]) {
        await fixture.go(page, path);
        const { width } = options.viewport;
        const wide = (): Promise<number> => page.evaluate('document.documentElement.scrollWidth');
        expect(await wide(), path).to.equal(width);
        await page.evaluate(`document.documentElement.dir = 'rtl'`);
        expect(await wide(), `${path}, from right to left`).to.equal(width);
        const outside = `[...document.querySelectorAll('main :is(a, button, input, select)')].filter((one) => {
          const { left, right, width } = one.getBoundingClientRect();
          return width > 0 && (left < 0 || right > innerWidth) && !one.closest('[role=tablist]');
        }).map((one) => one.outerHTML)`;
        expect(await page.evaluate(outside), path).to.deep.equal([]);
      }
    });
  }

  it('moves nothing for those who do not want it', async () => {
    const page = await operatorWith({ reducedMotion: 'reduce' });
    await fixture.go(page, '/keys?notice=key-revoked');
    const running = `document.getAnimations().filter((one) => one.playState === 'running').length`;
    expect(await page.evaluate(running)).to.equal(0);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.toast')).animationDuration`)).to.equal('0s');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has components that axe-core does not object to, ${colorScheme}`, async () => {
      const page = await operatorWith({ colorScheme });
      await showGallery(page, fixture.server.url, fixture.ann.account);
      await page.getByRole('tab', { name: 'Python' }).click();
      expect(await page.locator('#curl-code').isVisible()).to.equal(false);
      await page.locator('details.menu summary').click();
      await page.getByRole('link', { name: 'Rename' }).waitFor();
      expect(await axeViolations(page)).to.deep.equal([]);
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Rename' }).waitFor({ state: 'hidden' });
      expect(await axeViolations(page)).to.deep.equal([]);
    });
  }

  it('dismisses the result of an action', async () => {
    const page = await fixture.signedIn();
    await fixture.go(page, '/keys?notice=key-revoked');
    await page.getByText('The key is revoked.').waitFor();
    await page.getByRole('link', { name: 'Dismiss' }).click();
    await page.getByText('The key is revoked.').waitFor({ state: 'hidden' });
    expect(new URL(page.url()).pathname).to.equal('/dashboard/keys');
  });

  it('weighs at most 200 KB compressed on every page', async () => {
    await fixture.speak();
    const page = await operatorWith({});
    let most = 0;
    const sizes = new Map<string, number>();
    const sizeOf = async (url: string): Promise<number> => {
      const bytes = sizes.get(url) ?? gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length;
      sizes.set(url, bytes);
      return bytes;
    };
    const loaded = `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /assets/.test(name))`;
    for (const path of [...PAGES, ...OPERATED]) {
      await fixture.go(page, path);
      const urls = await page.evaluate<string[]>(loaded);
      let bytes = gzipSync(await page.content()).length;
      for (const url of urls) bytes += await sizeOf(url);
      expect(urls.length, path).to.be.above(5);
      expect(bytes, path).to.be.below(MOST_BYTES);
      most = Math.max(most, bytes);
    }
    // It does count what there is.
    expect(most).to.be.above(20_000);
  });
});
