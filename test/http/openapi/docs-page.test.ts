/** /docs in Chromium: what somebody sees who tries the API there. */
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { axeViolations, launchChromium } from '../../support/chromium.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { TestServer } from '../../support/server.js';

/** Buttons in a button, and fields without a label: Swagger UI writes them so. */
const SWAGGER_MARKUP = new Set(['nested-interactive', 'select-name', 'label']);

describe('/docs in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser;
  let server: TestServer;
  let page: Page;

  before(async () => {
    browser = await launchChromium();
    server = await TestServer.start();
  });
  beforeEach(async () => {
    page = await browser.newPage();
  });
  afterEach(() => page.close());
  after(async () => {
    await browser.close();
    await server.dispose();
  });

  async function tried(tag: string, operation: string): Promise<Locator> {
    await page.goto(`${server.url}/docs#/${tag}/${operation}`);
    const block = page.locator(`#operations-${tag}-${operation}`);
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.locator('input[type=file]').waitFor();
    return block;
  }

  /** What the fields of the form hold that were not touched, by their names; a choice has its options, too. */
  const fieldsOf = (block: Locator) =>
    block.locator('tr.parameters').evaluateAll((rows) =>
      Object.fromEntries(
        (rows as unknown as FieldRow[]).map((row) => {
          const field = row.querySelector('input:not([type=checkbox]), select');
          const name = (row.querySelector('.parameter__name')?.textContent ?? '').replace(/\W*$/, '');
          return [name, field?.value ?? ''];
        }),
      ),
    );

  it('sends a file, with nothing but defaults in the other fields', async () => {
    const { key } = await server.customer();
    const block = await tried('transcription', 'transcribe');
    expect(await fieldsOf(block)).to.deep.equal({
      ...{ audio: '', model: '', language: '', translate_to: '', punctuate: 'true', diarize: 'false' },
      ...{ num_speakers: '', min_speakers: '', max_speakers: '', timestamps: 'none', format: 'json', prompt: '' },
      keep: '',
    });
    const choices = await block.locator('tr.parameters', { hasText: 'format' }).locator('option').allTextContents();
    expect(choices).to.include.members(['json', 'text', 'srt', 'vtt']);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.getByLabel('auth-bearer-value').first().fill(key.rawKey);
    await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.locator('.close-modal').click();
    const buffer = fakeAudio(9);
    await block.locator('input[type=file]').setInputFiles({ name: 'clip.wav', mimeType: 'audio/wav', buffer });
    const answer = page.waitForResponse(`${server.url}/api/v1/transcribe`);
    await block.getByRole('button', { name: 'Execute' }).click();
    const answered = await answer;
    const body = (await answered.json()) as object;
    expect(answered.status(), JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ duration_sec: 9, credits_used: 1 });
  });

  for (const [operation, file] of [
    ['createTranscription', 'file'],
    ['createTranslation', 'file'],
  ] as const)
    it(`lets ${operation} choose a file, and fills in none of the fields that are refused`, async () => {
      const fields = await fieldsOf(await tried('openai', operation));
      expect(fields[file]).to.equal('');
      expect(fields['known_speaker_names']).to.be.oneOf([undefined, '']);
      expect(fields['response_format']).to.equal('json');
    });

  it('fills in no parameter that may be left out, so that a second try is no repeat of the first', async () => {
    const block = await tried('transcription', 'transcribe');
    const key = block.locator('tr[data-param-name="Idempotency-Key"] input[type=text]');
    await key.waitFor();
    for (const input of await block.locator('tr[data-param-in=header] input[type=text]').all())
      expect(await input.inputValue()).to.equal('');
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`can be read in the ${colorScheme}: axe-core objects to the markup of Swagger UI alone`, async () => {
      await page.emulateMedia({ colorScheme });
      await tried('jobs', 'createJob');
      const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      expect(ground).to.equal(colorScheme === 'light' ? 'rgb(247, 248, 250)' : 'rgb(15, 18, 22)');
      const rules = (await axeViolations(page)).map((violation) => violation.split(':')[0]);
      expect([...new Set(rules)].filter((rule) => !SWAGGER_MARKUP.has(rule ?? ''))).to.deep.equal([]);
    });

  it('is no frame of another page', async () => {
    const evil = await TestServer.start();
    try {
      await page.route(`${evil.url}/evil`, (route) =>
        route.fulfill({ contentType: 'text/html', body: `<iframe src="${server.url}/docs"></iframe>` }),
      );
      await page.goto(`${evil.url}/evil`);
      const frame = page.frames().find((one) => one !== page.mainFrame());
      expect(frame?.url()).to.equal('chrome-error://chromewebdata/');
    } finally {
      await evil.dispose();
    }
  });
});

interface FieldRow {
  querySelector(selector: string): { value?: string; textContent: string | null } | null;
}
