/** Trying it in Chromium, with the engine and the model that ship: a file, and a microphone that plays a file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { SpeechEngine } from '../../../src/engine/types.js';
import type { Account } from '../../../src/ledger/types.js';
import { packageRoot } from '../../../src/package-root.js';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { buildDashboard } from '../../support/dashboard.js';
import { samplePath } from '../../native/support.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { loadTranslator, type RealTranslator } from '../../support/real-translator.js';
import { TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

const SAMPLE = join(packageRoot, 'models', 'bundled', 'sample-es.flac');

describe('dashboard: trying it in Chromium', function () {
  this.timeout(180_000);
  let browser: Browser;
  let server: TestServer<SpeechEngine>;
  let translator: RealTranslator;
  let page: Page;
  let account: Account;

  before(async () => {
    buildDashboard();
    browser = await launchChromium([
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${samplePath('en-wav16.wav')}`,
      '--autoplay-policy=no-user-gesture-required',
    ]);
    translator = loadTranslator();
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1 }), translator });
  });
  after(async () => {
    await browser.close();
    await server.dispose();
    await translator.close();
  });
  beforeEach(async () => {
    ({ account } = await server.customer(10));
    const { token } = await server.ledger.access.createLink(account.id);
    page = await (await browser.newContext()).newPage();
    await page.goto(`${server.url}/dashboard/link?token=${token}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('link', { name: 'Transcribe', exact: true }).click();
    // Its script shows it.
    await page.locator('#try').waitFor();
  });
  afterEach(() => page.context().close());

  const transcribe = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await page.getByText('Credits spent').waitFor({ timeout: 120_000 });
  };

  it('a dropped file: its price, its words, which follow the audio and jump when clicked, its files', async () => {
    const bytes = readFileSync(SAMPLE).toString('base64');
    await page.evaluate(`(() => {
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob('${bytes}'), (c) => c.charCodeAt(0));
      data.items.add(new File([bytes], 'sample-es.flac', { type: 'audio/flac' }));
      document.querySelector('#try').dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
    })()`);
    await page.getByText('which will cost about 1 of').waitFor();
    await transcribe();
    const words = await page.locator('#transcript .word').allTextContents();
    expect(words.length).to.be.above(3);
    const third = page.locator('#transcript .word').nth(2);
    await page.evaluate("document.querySelector('audio').pause()");
    await third.click();
    await page.evaluate("document.querySelector('audio').pause()");
    await page.locator('#transcript .word.now').first().waitFor();
    const at = await page.evaluate<number>("document.querySelector('audio').currentTime");
    expect(at).to.be.above(0);
    await page.evaluate("document.querySelector('audio').currentTime = 10_000");
    await page.locator('#transcript .word.now').waitFor({ state: 'detached' });
    // From the start to the end, by itself.
    await page.evaluate(`(() => {
      window.lit = [];
      new MutationObserver((changes) => {
        for (const { target } of changes)
          if (target.matches('.word.now') && window.lit.at(-1) !== target) window.lit.push(target);
      }).observe(document.querySelector('#transcript'), { subtree: true, attributeFilter: ['class'] });
      const audio = document.querySelector('audio');
      audio.currentTime = 0;
      void audio.play();
      return new Promise((resolve) => audio.addEventListener('ended', resolve));
    })()`);
    const places = await page.evaluate<number[]>(
      "(() => { const all = [...document.querySelectorAll('.word')]; return window.lit.map((one) => all.indexOf(one)); })()",
    );
    expect(places.length).to.be.above(3);
    expect(places).to.deep.equal([...places].sort((one, other) => one - other));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'srt' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('sample-es.srt');
    expect(readFileSync(await download.path(), 'utf8')).to.match(/^1\r?\n00:00:0/);
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
  });

  it('captions while the microphone records: what is final, the credits, and the recording afterwards', async () => {
    await page.getByLabel('Show captions while I speak').check();
    await page.getByRole('button', { name: 'Record with the microphone' }).click();
    const captions = page.locator('#caption-text');
    // The fake microphone plays its file again and again, without a pause: an utterance may begin anywhere in it.
    await captions
      .getByText(/Emma|Laura/)
      .first()
      .waitFor({ timeout: 120_000 });
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await until(async () => (await page.locator('#balance').textContent()) !== '10');
    expect(await page.locator('#failure').textContent()).to.equal('');
    expect(await captions.locator('.partial').textContent()).to.equal('');
    await page.getByRole('button', { name: 'recording.webm', exact: true }).waitFor();
    const { balance } = await server.ledger.credits.balance(account.id);
    expect(await page.locator('#balance').textContent()).to.equal(String(balance));
    expect(balance).to.be.within(8, 9);
  });

  it('captions with their translation beside them', async () => {
    await page.getByLabel('Translate into').selectOption('de');
    await page.getByLabel('Show captions while I speak').check();
    await page.getByRole('button', { name: 'Record with the microphone' }).click();
    await page.locator('#caption-translation[lang=de]').filter({ hasText: /\S/ }).waitFor({ timeout: 120_000 });
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await until(async () => (await page.locator('#balance').textContent()) !== '10');
    expect(await page.locator('#failure').textContent()).to.equal('');
  });

  it('what the microphone records', async () => {
    await page.getByRole('button', { name: 'Record with the microphone' }).click();
    await page.getByText('Recording …').waitFor();
    // How loud it is, and for how long.
    await until(() => page.evaluate<boolean>("document.querySelector('#level').value > 0"));
    await page.locator('#timer', { hasText: /^0:0[2-9]$/ }).waitFor();
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.locator('#recording-now').waitFor({ state: 'hidden' });
    // A new recording has no length in its head.
    await page.getByText(/recording\.webm: about \d+\.\d s, which will cost about 1 of/).waitFor();
    await transcribe();
    await page.locator('#result').waitFor();
    expect(await page.locator('#failure').textContent()).to.equal('');
  });

  it('says what is wrong with a file that is none', async () => {
    await page.locator('input[type=file]').setInputFiles({
      name: '<b>not audio</b>.wav',
      mimeType: 'audio/wav',
      buffer: Buffer.from('no audio at all'),
    });
    await page.getByRole('button', { name: '<b>not audio</b>.wav', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await page.getByText('This failed').waitFor();
    expect(await page.locator('main b').count()).to.equal(0);
  });
});
