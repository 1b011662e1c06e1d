/** Kept transcripts in Chromium: heard, corrected in place, found again; long ones, and by keyboard alone. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { storedDocument } from '../../../src/library/stored-document.js';
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
    const parts: Parameters<typeof transcribe>[1]['parts'] = [
      ['audio', fakeWav(seconds, { text, playedSeconds: Math.min(seconds, 20) })],
    ];
    const { status, body } = await transcribe(fixture.server, { key: fixture.ann.key, parts });
    expect(status, JSON.stringify(body)).to.equal(200);
    return String(body['id']);
  }

  /** Four hours of 4,000 lines with ten words each, without a recording. */
  async function keepLong(): Promise<string> {
    const segments = Array.from({ length: 4000 }, (_, line) => {
      const words = Array.from({ length: 10 }, (_, word) => {
        const startSeconds = line * 3.6 + word * 0.3;
        return { startSeconds, endSeconds: startSeconds + 0.25, text: `word${line}.${word}`, probability: 1 };
      });
      const text = words.map((word) => word.text).join(' ');
      return { startSeconds: line * 3.6, endSeconds: line * 3.6 + 3, text, words };
    });
    const document = {
      ...{ durationSeconds: 4 * 3600, language: 'en', segments, names: {}, translation: null, notes: [] },
    };
    const id = `tr_${'L'.repeat(22)}`;
    const kept = await fixture.server.ledger.transcripts.keep(
      {
        ...{ id, accountId: fixture.ann.account.id, title: 'Four hours', keepDays: null, durationSeconds: 14_400 },
        ...{ language: 'en', translationLanguage: null, speakers: [], model: null, audioBytes: 0, searchTexts: [] },
        source: { kind: 'api', name: null },
        content: storedDocument(document),
      },
      1e9,
    );
    expect(kept).to.equal('kept');
    return id;
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
    const id = await keepLong();
    const page = await opened(id);
    const words = (): Promise<number> => page.locator('#transcript .word').count();
    const lines = await page.locator('.text-line').count();
    const all = await page.evaluate<unknown[][]>(`fetch('/dashboard/transcripts/${id}/words').then((it) => it.json())`);
    expect(all.flat()).to.have.length(40_000);
    const textAt = async (line: number): Promise<string> =>
      ((await page.locator(`#s${line} .line-text`).textContent()) ?? '').trim();
    const first = await textAt(0);
    expect(await words()).to.be.lessThan(11_000);
    for (const line of [lines - 1, Math.floor(lines / 2)]) {
      const before = await textAt(line);
      await page.locator(`#s${line}`).scrollIntoViewIfNeeded();
      await page.locator(`#s${line} .word`).first().waitFor();
      expect(await textAt(line)).to.equal(before);
    }
    await until(async () => (await page.locator('#s0 .word').count()) === 0);
    expect(await words()).to.be.lessThan(22_000);
    expect(await textAt(0)).to.equal(first);
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
      const link = (await page.locator('#share-link').textContent()) ?? '';
      const shared = await fixture.context.newPage();
      await shared.goto(link);
      expect(await axeViolations(shared), 'a shared transcript').to.deep.equal([]);
      // The policy allows the page's own style by its hash.
      expect(await shared.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")).to.equal('736px');
    });
  }
});
