/** Kept transcripts in Chromium: heard, corrected in place, found again; long ones, and by keyboard alone. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeViolations } from '../../support/chromium.js';
import { fakeWav } from '../../support/fake-engine.js';
import { transcribe } from '../../support/requests.js';
import { bearer } from '../../support/server.js';
import { until } from '../../support/until.js';
import { useBrowserFixture } from './browser-fixture.js';

describe('dashboard: kept transcripts in Chromium', function () {
  this.timeout(120_000);
  const fixture = useBrowserFixture();

  /** Kept with its recording; answers its id. */
  async function keep(text: string, seconds = 20): Promise<string> {
    const settings = { isOn: true, keepDays: null, keepsAudio: true };
    await fixture.server.ledger.transcripts.decide(fixture.ann.account.id, settings);
    const parts: Parameters<typeof transcribe>[1]['parts'] = [['audio', fakeWav(seconds, { text })]];
    const { status, body } = await transcribe(fixture.server, { key: fixture.ann.key, parts });
    expect(status, JSON.stringify(body)).to.equal(200);
    return String(body['id']);
  }

  async function stored(id: string) {
    const answer = await fetch(`${fixture.server.url}/api/v1/transcripts/${id}`, { headers: bearer(fixture.ann.key) });
    return (await answer.json()) as { segments: { text: string }[]; words: { word: string }[] };
  }

  async function opened(id: string, more = ''): Promise<Page> {
    const page = await fixture.signedIn();
    await fixture.go(page, `/transcripts/${id}${more}`);
    await page.locator('#transcript .word').first().waitFor();
    return page;
  }

  const time = (page: Page): Promise<number> => page.evaluate<number>("document.querySelector('#audio').currentTime");

  it('play from a word that is clicked, follow the recording, and are moved through with keys', async () => {
    const page = await opened(await keep('One two three|four five six.'));
    await page.locator('.word', { hasText: 'four' }).click();
    await until(async () => (await time(page)) >= 10);
    await page.locator('.word.now').first().waitFor();
    await page.evaluate("document.querySelector('#audio').pause()");
    await page.locator('#transcript').focus();
    const before = await time(page);
    await page.keyboard.press('j');
    expect(await time(page)).to.be.closeTo(before - 5, 0.1);
    await page.keyboard.press('l');
    expect(await time(page)).to.be.closeTo(before, 0.1);
    await page.keyboard.press(' ');
    await until(() => page.evaluate<boolean>("!document.querySelector('#audio').paused"));
    await page.getByLabel('Speed').selectOption('2');
    expect(await page.evaluate("document.querySelector('#audio').playbackRate")).to.equal(2);
  });

  it('open at the time in their address', async () => {
    const page = await opened(await keep('One two three|four five six.'), '#t=12');
    expect(await time(page)).to.be.closeTo(12, 0.1);
  });

  it('are corrected in place with the keyboard alone; words keep their times, and Escape restores', async () => {
    const id = await keep('Helo big world.|Second line.', 4);
    const page = await opened(id);
    const correct = page.getByRole('button', { name: 'Correct text' });
    await correct.focus();
    await page.keyboard.press('Enter');
    expect(await correct.getAttribute('aria-pressed')).to.equal('true');
    await page.locator('#s0 .line-text').focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('Hello big world.');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Saved.').waitFor();
    expect(await page.locator('#s0 .line-text').textContent()).to.equal('Hello big world.');
    // The line after it has the focus.
    await page.keyboard.type('Nonsense ');
    await page.keyboard.press('Escape');
    expect(await page.locator('#s1 .line-text').textContent()).to.equal('Second line.');
    const { segments, words } = await stored(id);
    expect(segments.map(({ text }) => text)).to.deep.equal(['Hello big world.', 'Second line.']);
    expect(words.map(({ word }) => word)).to.include.members(['Hello', 'big', 'world.']);
    await page.reload();
    await page.getByRole('button', { name: 'Undo the last change' }).click();
    await page.getByText('Helo big world.').waitFor();
  });

  it('keep a text that was not saved in its line, and say why', async () => {
    const id = await keep('One line.');
    const page = await opened(id);
    const other = await fixture.pages.open(fixture.context);
    await fixture.go(other, `/transcripts/${id}`);
    await other.getByLabel('Title').fill('Meanwhile');
    await other.getByRole('button', { name: 'Save' }).click();
    await other.getByRole('heading', { name: 'Meanwhile' }).waitFor();
    await page.getByRole('button', { name: 'Correct text' }).click();
    await page.locator('#s0 .line-text').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('My line.');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Somebody changed this transcript meanwhile').waitFor();
    expect(await page.locator('#s0 .line-text').textContent()).to.equal('My line.');
  });

  it('of four hours open, scroll without gaps, and hold no more elements than the screen needs', async () => {
    const sentence = 'alpha beta gamma delta epsilon zeta eta theta iota kappa';
    const id = await keep(Array.from({ length: 4000 }, (_, index) => `${index} ${sentence}`).join('|'), 4 * 3600);
    const page = await opened(id);
    const words = (): Promise<number> => page.locator('#transcript .word').count();
    const first = await words();
    expect(first).to.be.lessThan(11 * 400);
    await page.locator('#s3999').scrollIntoViewIfNeeded();
    await page.locator('#s3999 .word').first().waitFor();
    expect(await page.locator('#s3999 .line-text').textContent()).to.equal(`3999 ${sentence}`);
    await page.locator('#s2000').scrollIntoViewIfNeeded();
    await page.locator('#s2000 .word').first().waitFor();
    await until(async () => (await page.locator('#s0 .word').count()) === 0);
    expect(await words()).to.be.lessThan(11 * 800);
    expect(await page.locator('#s0 .line-text').textContent()).to.equal(`0 ${sentence}`);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`have nothing that axe-core objects to, ${colorScheme}, and fit a phone`, async () => {
      const id = await keep('One two three|four five six.');
      await fixture.context.close();
      fixture.context = await fixture.browser.newContext({ colorScheme, viewport: { width: 360, height: 740 } });
      const page = await fixture.signedIn();
      const paths = ['', '?query=two', '?query=nowhere', `/${id}`, `/${id}/changes`, `/${id}/shares`, `/${id}/delete`];
      for (const path of paths) {
        await fixture.go(page, `/transcripts${path}`);
        expect(await axeViolations(page), path).to.deep.equal([]);
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect(overflow, path).to.be.at.most(0);
      }
      await fixture.go(page, `/transcripts/${id}/shares`);
      await page.getByRole('button', { name: 'Create a link' }).click();
      await page.getByText('shown only this once').waitFor();
      expect(await axeViolations(page), 'a link').to.deep.equal([]);
    });
  }
});
