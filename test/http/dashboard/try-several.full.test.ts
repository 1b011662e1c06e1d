/** Several recordings at once in Chromium, what is chosen for them, and what would be lost by leaving. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { packageRoot } from '../../../src/package-root.js';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { DashboardPages } from '../../support/dashboard-pages.js';
import { buildDashboard } from '../../support/dashboard.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { fakeWav } from '../../support/fake-engine.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

describe('dashboard: several recordings in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser;
  let server: TestServer;
  let pages: DashboardPages;
  let ann: Customer;
  let page: Page;

  before(async () => {
    buildDashboard();
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    server = await TestServer.start({
      diarizer: new FakeDiarizer(),
      translator: fakeTranslator((text) => `In English: ${text}`),
    });
    server.engine.info.languages = ['ar', 'en', 'es'];
    pages = new DashboardPages(browser, server);
    ann = await server.customer(100);
    page = await pages.signedIn(ann.account, await pages.context());
    await page.goto(`${server.url}/dashboard/try`);
  });
  afterEach(async () => {
    server.engine.release();
    await pages.close();
    await server.dispose();
    expect(pages.complaints).to.deep.equal([]);
    expect(pages.foreign).to.deep.equal([]);
  });

  const choose = (...files: [name: string, buffer: Buffer][]): Promise<void> =>
    page
      .getByLabel('Choose recordings')
      .setInputFiles(files.map(([name, buffer]) => ({ name, mimeType: 'audio/wav', buffer })));
  const transcribe = (): Promise<void> => page.getByRole('button', { name: 'Transcribe', exact: true }).click();
  const states = (): Promise<string[]> => page.locator('.recording .state').allTextContents();
  const code = (name: string): Promise<string> => page.locator(`#code-${name}`).innerText();

  it('sends them one after the other, each with its progress; one is cancelled, the others go on', async () => {
    await choose(['a.wav', fakeWav(61)], ['b.wav', fakeWav(3)], ['c.wav', fakeWav(3, { text: 'The last one.' })]);
    await page.getByText('3 recordings: about 67.0 s, which will cost about 4 of your credits.').waitFor();
    server.engine.holdAll();
    await transcribe();
    await until(async () => (await states()).join('|') === '0 %|Waits for its turn|Waits for its turn');
    expect(await axeViolations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Cancel b.wav' }).click();
    server.engine.release();
    await until(async () => (await states()).join('|') === 'Done. Credits: 2|Cancelled|Done. Credits: 1');
    expect(await server.balance(ann)).to.equal(97);
    await page.getByRole('button', { name: 'c.wav', exact: true }).click();
    expect(await page.locator('#transcript').innerText()).to.contain('The last one.');
    // What is left is what was cancelled.
    await page.getByText('b.wav: about 3.0 s, which will cost about 1 of').waitFor();
    await transcribe();
    await until(async () => (await states())[1] === 'Done. Credits: 1');
    await page.getByRole('button', { name: 'Remove a.wav' }).click();
    expect(await states()).to.have.length(2);
  });

  it('cancels all of them at once', async () => {
    await choose(['a.wav', fakeWav(3)], ['b.wav', fakeWav(3)]);
    server.engine.holdAll();
    await transcribe();
    await server.engine.untilRunning(1);
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await until(async () => (await states()).join('|') === 'Cancelled|Cancelled');
    await until(async () => (await server.balance(ann)) === 100);
  });

  it('says of each what is wrong with it, and goes on with the next', async () => {
    await choose(['broken.wav', Buffer.from('no audio')], ['b.wav', fakeWav(3)]);
    await transcribe();
    await until(async () => (await states())[1] === 'Done. Credits: 1');
    expect((await states())[0]).to.contain('Not WAV');
  });

  it('shows the language that was found, and no translation into it', async () => {
    await choose(['talk.wav', fakeWav(3, { language: 'es', text: 'Hola, mundo.' })]);
    await page.getByLabel('Translate into').selectOption('es');
    await transcribe();
    await page.getByText('Language: Spanish').waitFor();
    expect(await page.locator('#translated').isVisible()).to.equal(false);
    expect(await page.locator('#files a').allTextContents()).to.deep.equal(
      ['txt', 'srt', 'vtt', 'json'].map((kind) => `talk.${kind}`),
    );
  });

  it('sends the words to expect and the wish for plain text', async () => {
    await choose(['talk.wav', fakeWav(3, { text: 'Hello, World.' })]);
    await page.getByText('More settings').click();
    await page.getByLabel('Names and words to expect').fill('Ada Lovelace');
    await page.getByLabel('Leave out punctuation and capitals').check();
    await transcribe();
    await page.getByText('Credits spent').waitFor();
    expect(await page.locator('#transcript .word').allTextContents()).to.deep.equal(['hello', 'world']);
    expect(server.engine.prompts.at(-1)).to.equal('Ada Lovelace');
  });

  it('shows the same call, which does the same: curl, OpenAI’s client and ours', async () => {
    await choose(['my talk.wav', fakeWav(61, { language: 'es', text: 'Hola, mundo.' })]);
    await page.getByLabel('Spoken language').selectOption('es');
    await page.getByLabel('Translate into').selectOption('en');
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-call-'));
    try {
      symlinkSync(join(packageRoot, 'node_modules'), join(directory, 'node_modules'));
      writeFileSync(join(directory, 'my talk.wav'), fakeWav(61, { language: 'es', text: 'Hola, mundo.' }));
      const env = { ...process.env, VERBATIM_API_KEY: ann.key.rawKey };
      const output = async (command: string, args: readonly string[]): Promise<string> =>
        (await promisify(execFile)(command, args, { cwd: directory, env })).stdout;
      const answer = JSON.parse(await output('sh', ['-c', `${await code('curl')} --silent`])) as Record<
        string,
        unknown
      >;
      expect(answer).to.deep.include({ language: 'es', text: 'Hola, mundo.' });
      expect(answer['translation']).to.include({ text: 'In English: Hola, mundo.' });
      await page.getByRole('tab', { name: 'JavaScript (openai)' }).click();
      writeFileSync(join(directory, 'openai.mjs'), await code('javascript'));
      expect((await output('node', ['openai.mjs'])).trim()).to.equal('In English: Hola, mundo.');
      await page.getByRole('tab', { name: '@verbatim/client' }).click();
      writeFileSync(join(directory, 'client.mjs'), await code('client'));
      expect((await output('node', ['client.mjs'])).trim()).to.equal('Hola, mundo.');
      await page.getByRole('tab', { name: '@verbatim/client' }).press('ArrowLeft');
      await page.getByRole('tab', { name: 'JavaScript (openai)', selected: true }).waitFor();
      expect(await axeViolations(page)).to.deep.equal([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('asks before a transcript that was paid for and not saved is left, and not afterwards', async () => {
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await choose(['talk.wav', fakeWav(3)]);
    await transcribe();
    await page.getByText('Credits spent').waitFor();
    await page.reload();
    expect(asked).to.deep.equal(['beforeunload']);
    await choose(['talk.wav', fakeWav(3)]);
    await transcribe();
    await page.getByText('Credits spent').waitFor();
    await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'talk.txt' }).click()]);
    await page.reload();
    expect(asked).to.deep.equal(['beforeunload']);
  });
});
