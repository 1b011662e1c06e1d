/** What a person does with a recording, from signing in to a link that is revoked, in Chromium. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ModelDownloads } from '../../../src/service/model-downloads.js';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { fakeWav } from '../../support/fake-engine.js';
import { ModelHub } from '../../support/model-hub.js';
import { until } from '../../support/until.js';
import { useBrowserFixture } from './browser-fixture.js';

describe('dashboard: a person and a recording, in Chromium', function () {
  this.timeout(120_000);
  let hub: ModelHub;
  let modelStore: ModelDownloads;
  before(async () => {
    hub = await ModelHub.start();
    hub.register(['real']);
    const logger = { info: () => undefined, warn: () => undefined };
    modelStore = new ModelDownloads({ context: hub.context, logger });
  });
  after(async () => {
    await modelStore.close();
    await hub.close();
  });
  const fixture = useBrowserFixture(() => ({ modelStore, diarizer: new FakeDiarizer() }));

  async function downloaded(page: Page, name: string): Promise<Buffer> {
    await page.locator('.transcript-tools summary').click();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name, exact: true }).click();
    const file = await download;
    await page.locator('.transcript-tools summary').click();
    return readFileSync(await file.path());
  }

  it('gets a model; is transcribed, kept, corrected, downloaded, found again, and shared until the link is revoked', async () => {
    await fixture.server.ledger.access.setRole(fixture.ann.account.id, 'operator');
    const page = await fixture.signedIn();
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByRole('button', { name: 'Download real' }).click();
    await page.getByRole('row', { name: /^real.* installed/ }).waitFor();

    await page.getByRole('link', { name: 'Transcribe', exact: true }).click();
    await page.getByText('Keep until I delete them').click();
    await page.getByLabel('Keep the recording, too').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It applies to transcriptions from now on').waitFor();
    expect(await page.getByText('Keep your transcripts?').count()).to.equal(0);

    const buffer = fakeWav(8, { text: 'The meating begins.|Then we talk.' });
    await page.locator('input[type=file]').setInputFiles({ name: 'Board.wav', mimeType: 'audio/wav', buffer });
    await page.getByLabel('Identify speakers').check();
    await page.locator('#submit').click();
    await page.getByRole('link', { name: 'Open in Transcripts' }).click();
    await page.getByRole('heading', { name: 'Board.wav' }).waitFor();
    await page.locator('#audio').waitFor();

    await page.getByRole('button', { name: 'Correct text' }).click();
    const line = page.locator('.line-text', { hasText: 'meating' });
    await line.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('The meeting begins.');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Saved.').waitFor();
    await page.keyboard.press('Escape');

    await page.getByLabel('Name of S2').fill('Ada Lovelace');
    const title = page.getByLabel('Title');
    await title.fill('Board meeting');
    await title.press('Enter');
    await page.getByRole('heading', { name: 'Board meeting' }).waitFor();
    await page.locator('.speaker', { hasText: 'Ada Lovelace' }).first().waitFor();
    const subtitles = (await downloaded(page, 'SubRip subtitles')).toString();
    expect(subtitles).to.contain('The meeting begins.').and.to.contain('Ada Lovelace');
    expect((await downloaded(page, 'Word')).subarray(0, 2).toString()).to.equal('PK');

    await page.getByRole('link', { name: 'Transcripts', exact: true }).click();
    await page.getByLabel('Search').fill('meeting');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('mark', { hasText: 'meeting' }).waitFor();
    await page.getByRole('link', { name: 'Board meeting' }).click();

    await page.getByRole('link', { name: 'Share' }).click();
    await page.getByRole('button', { name: 'Create a link' }).click();
    const address = (await page.locator('#share-link').textContent()) ?? '';
    const stranger = await (await fixture.browser.newContext()).newPage();
    await stranger.goto(address);
    await stranger.getByText('The meeting begins.').waitFor();
    await page.getByRole('link', { name: /^Revoke the link/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The link no longer works.').waitFor();
    await until(async () => (await stranger.goto(address))?.status() === 404);
    await stranger.context().close();
  });
});
