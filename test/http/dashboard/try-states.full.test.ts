/** Trying it in Chromium, state by state: an engine that the test stops and sets going shows each. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { DashboardPages } from '../../support/dashboard-pages.js';
import { buildDashboard } from '../../support/dashboard.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { fakeWav } from '../../support/fake-engine.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

const ARABIC = 'أهلا بكم في العالم';
const TIME = "document.querySelector('audio').currentTime";

describe('dashboard: trying it in Chromium, state by state', function () {
  this.timeout(120_000);
  let browser: Browser;
  let server: TestServer;
  let pages: DashboardPages;
  let ann: Customer;
  let page: Page;

  before(async () => {
    buildDashboard();
    browser = await launchChromium(['--autoplay-policy=no-user-gesture-required']);
  });
  after(() => browser.close());
  beforeEach(async () => {
    server = await TestServer.start({
      diarizer: new FakeDiarizer(),
      translator: fakeTranslator((text) => `In English: ${text}`),
      settings: { translationCreditsPerMinute: 2, diarizationCreditsPerMinute: 3 },
    });
    server.engine.info.languages = ['ar', 'en', 'es'];
    pages = new DashboardPages(browser, server);
    ann = await server.customer(100);
  });
  afterEach(async () => {
    await pages.close();
    await server.dispose();
    expect(pages.complaints).to.deep.equal([]);
    expect(pages.foreign).to.deep.equal([]);
  });

  async function tryIt(options: BrowserContextOptions = {}, customer = ann): Promise<void> {
    page = await pages.signedIn(customer.account, await pages.context(options));
    await page.getByRole('link', { name: 'Transcribe', exact: true }).click();
    await page.locator('#try').waitFor();
  }

  const choose = (buffer: Buffer, name = 'talk.wav'): Promise<void> =>
    page.getByLabel('Choose recordings').setInputFiles({ name, mimeType: 'audio/wav', buffer });
  const transcribe = (): Promise<void> => page.getByRole('button', { name: 'Transcribe' }).click();
  const done = (): Promise<void> => page.getByText('Credits spent').waitFor();
  const price = (): Promise<string | null> => page.locator('#price').textContent();
  const lit = (): Promise<string[]> => page.locator('.word.now').allTextContents();

  it('reports the price of every choice before it is spent, which is what is charged', async () => {
    await tryIt();
    let left = 100;
    const languages = page.getByLabel('Spoken language');
    const target = page.getByLabel('Translate into');
    for (const [choice, credits, reported] of [
      [() => Promise.resolve(), 2, 'which will cost about 2 of'],
      [() => page.getByLabel('Identify speakers').check(), 8, 'which will cost about 8 of'],
      [() => target.selectOption('en'), 12, 'which will cost at most about 12 of'],
      [() => languages.selectOption('es'), 12, 'which will cost about 12 of'],
      [() => languages.selectOption('en'), 8, 'which will cost about 8 of'],
    ] as [() => Promise<unknown>, number, string][]) {
      await choice();
      await choose(fakeWav(61, { language: 'es' }));
      await until(async () => (await price())?.includes(reported) === true, reported);
      await transcribe();
      left -= credits;
      await page.getByText(`Credits spent: ${credits}; left: ${left}.`).waitFor();
      expect(await server.balance(ann)).to.equal(left);
    }
  });

  it('shows the price by the server’s measure once there is one, and the balance when the run has ended', async () => {
    ann = await server.customer(2000);
    await tryIt({}, ann);
    const shown = (): Promise<string | null> => page.locator('#balance').textContent();
    expect(await shown()).to.equal('2,000');
    server.engine.holdAll();
    // A browser takes this file for a little longer than two minutes, the server for two minutes.
    await choose(fakeWav(120, { playedSeconds: 120.007 }));
    await page.getByText('which will cost about 3 of').waitFor();
    await transcribe();
    await page.getByText('talk.wav: 120.0 s, which will cost 2 of').waitFor();
    await page.getByText('2 of your credits are held for it').waitFor();
    expect(await shown()).to.equal('2,000');
    server.engine.release();
    await done();
    expect(await shown()).to.equal('1,998');
    await page.getByLabel('Identify speakers').check();
    await page.getByText('talk.wav: 120.0 s, which will cost 8 of').waitFor();
  });

  it('says before that it costs more than there is, and is refused honestly, uncharged', async () => {
    await tryIt({}, await server.customer(1));
    await choose(fakeWav(61));
    await page.getByText('which will cost about 2 of your credits. You have only 1.').waitFor();
    await transcribe();
    await page
      .getByText("This failed: The audio is longer than the 1 min that the account's 1 credit pays for.")
      .waitFor();
    expect(await page.locator('#result').isVisible()).to.equal(false);
    expect(await axeViolations(page)).to.deep.equal([]);
  });

  it('shows how far it is and the text that is final; Cancel ends the request', async () => {
    await tryIt();
    server.engine.holdAll(1);
    await choose(fakeWav(180, { text: 'The first window.|The second.' }));
    await transcribe();
    await page.getByText('Transcribing 180.0 s; 3 of your credits are held for it').waitFor();
    await page.getByText('50 %').waitFor();
    expect(await page.locator('#so-far').textContent()).to.equal('The first window.');
    expect(await page.evaluate("document.querySelector('progress').value")).to.equal(0.5);
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Cancelled.').waitFor();
    await until(async () => (await page.evaluate('document.activeElement.id')) === 'submit');
    await until(() => server.engine.running === 0);
    await until(async () => (await server.balance(ann)) === 98);
    await page.locator('#balance', { hasText: /^98$/ }).waitFor();
    server.engine.release();
    await transcribe();
    await done();
    expect(await page.locator('#so-far').isVisible()).to.equal(false);
    expect(await server.balance(ann)).to.equal(95);
  });

  it('shows the progress of the upload before that of the work', async () => {
    await tryIt();
    const client = await page.context().newCDPSession(page);
    const network = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2_000_000 };
    await client.send('Network.emulateNetworkConditions', network);
    const seen: string[] = [];
    await page.exposeFunction('seen', (text: string) => void seen.push(text));
    await choose(fakeWav(120));
    await page.evaluate(`new MutationObserver(() => window.seen(document.querySelector('.state').textContent)).observe(
      document.querySelector('.state'),
      { childList: true },
    )`);
    await transcribe();
    await done();
    const shares = seen
      .filter((text) => text.startsWith('Sending'))
      .map((text) => parseInt(/(\d+) %/.exec(text)?.[1] ?? ''));
    expect(shares.length).to.be.above(1);
    expect(shares).to.deep.equal([...shares].sort((one, other) => one - other));
    expect(shares.every((share) => share >= 0 && share < 100)).to.equal(true);
  });

  it('names speakers in words and in colours that differ', async () => {
    await tryIt();
    await choose(fakeWav(3, { text: 'Hola, mundo.' }));
    await page.getByLabel('Identify speakers').check();
    await page.getByLabel('Number of speakers').fill('2');
    await transcribe();
    await done();
    expect(await page.locator('.speaker').allTextContents()).to.deep.equal(['Speaker S1', 'Speaker S2']);
    const colours = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.speaker')].map((one) => getComputedStyle(one, '::before').backgroundColor)",
    );
    expect(new Set(colours).size).to.equal(2);
    expect(await page.locator('#transcript p').allTextContents()).to.deep.equal([
      '0:00Speaker S1 Hola, ',
      '0:01Speaker S2 mundo. ',
    ]);
    expect(await axeViolations(page)).to.deep.equal([]);
  });

  it('sets Arabic from right to left, where words light up and jump, and its translation beside it', async () => {
    await tryIt();
    await choose(fakeWav(8, { language: 'ar', text: ARABIC }));
    await page.getByLabel('Translate into').selectOption('en');
    await transcribe();
    await done();
    const boxes = await page
      .locator('#transcript .word')
      .evaluateAll((words) => words.map((word) => (word as unknown as { offsetLeft: number }).offsetLeft));
    expect(boxes).to.have.length(4);
    expect(boxes).to.deep.equal([...boxes].sort((one, other) => other - one));
    expect(await page.locator('#transcript').getAttribute('lang')).to.equal('ar');
    expect(await page.locator('#translation').getAttribute('lang')).to.equal('en');
    expect(await page.locator('#translation').textContent()).to.contain(`In English: ${ARABIC}`);
    await page.locator('#transcript .word').nth(2).click();
    await until(async () => (await lit()).join() === ARABIC.split(' ')[2]);
    await page.evaluate("document.querySelector('audio').pause()");
    expect(await page.evaluate<number>(TIME)).to.be.within(3, 8);
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
  });

  it('is all within reach of the keyboard: file, choices, words (either direction), files', async () => {
    for (const [language, text, onwards] of [
      ['en', 'one two three four', 'ArrowRight'],
      ['ar', ARABIC, 'ArrowLeft'],
    ] as const) {
      await tryIt();
      await choose(fakeWav(8, { language, text }));
      await page.getByLabel('Choose recordings').focus();
      const reached: string[] = [];
      for (let n = 0; n < 9; n += 1) {
        reached.push(await page.evaluate<string>('document.activeElement.name || document.activeElement.id'));
        expect(
          await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'),
          reached.at(-1),
        ).not.to.equal('none');
        await page.keyboard.press('Tab');
      }
      const choices = ['language', 'translate_to', 'diarize', 'keep', '', 'submit'];
      expect(reached).to.deep.equal(['audio', 'record', 'wants-captions', ...choices]);
      await page.getByRole('button', { name: 'Transcribe' }).focus();
      await page.keyboard.press('Enter');
      await done();
      await page.locator('#transcript .time').focus();
      await page.keyboard.press('Tab');
      const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.textContent');
      const words = text.split(' ');
      expect(await focused()).to.equal(words[0]);
      await page.keyboard.press(onwards);
      expect(await focused()).to.equal(words[1]);
      await page.keyboard.press('Enter');
      await until(async () => (await page.evaluate<number>(TIME)) >= 1.5);
      await page.evaluate("document.querySelector('audio').pause()");
      await page.keyboard.press('End');
      expect(await focused()).to.equal(words[3]);
      await page.keyboard.press('Tab');
      expect(await focused()).to.equal('talk.txt');
      await page.close();
    }
  });

  it('offers text, srt, vtt and json of the transcript, and of the translation', async () => {
    await tryIt();
    await choose(fakeWav(2, { language: 'es', text: 'Hola, mundo.' }));
    await page.getByLabel('Translate into').selectOption('en');
    await transcribe();
    await done();
    for (const [name, content] of [
      ['talk.txt', /^Hola, mundo\.$/],
      ['talk.srt', /^1\n00:00:00,000 --> [^]*Hola, mundo\./],
      ['talk.vtt', /^WEBVTT\n[^]*Hola, mundo\./],
      ['talk.json', /"credits_used": 3[^]*"translation"|"translation"[^]*"credits_used": 3/],
      ['talk.en.srt', /In English: Hola, mundo\./],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name, exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).to.equal(name);
      expect(readFileSync(await download.path(), 'utf8'), name).to.match(content);
    }
  });

  it('says so where no speech was recognised, and runs nothing that a transcript or a file’s name says', async () => {
    await tryIt();
    await choose(fakeWav(2, { text: ' ' }));
    await transcribe();
    await page.getByText('No speech was recognised.').waitFor();
    await choose(fakeWav(2, { text: '<img src=x onerror="document.title=1"> <b>bold</b>' }), '<img src=x>.wav');
    await transcribe();
    await page.locator('#transcript .word').first().waitFor();
    expect(await page.locator('main img, main b').count()).to.equal(0);
    expect(await page.title()).to.contain('Verbatim');
  });
});
