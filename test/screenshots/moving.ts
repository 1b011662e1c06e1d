/** Moving pictures of what one still shows badly: a transcript that is corrected, and captions while somebody speaks. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { DashboardPages } from '../support/dashboard-pages.js';
import { fakeWav } from '../support/fake-engine.js';
import { transcribe } from '../support/requests.js';
import type { InventedServer } from './invented-server.js';

const VIEWPORT = { width: 960, height: 600 };
const FRAMES_PER_SECOND = 5;
/** Between letters, in milliseconds. */
const TYPING_MS = 90;
const COLOURS = 48;

/** Chromium with a microphone that plays this file. */
export const microphoneArguments = (file: string): string[] => [
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
  `--use-file-for-fake-audio-capture=${file}`,
];

export async function movingPictures(browser: Browser, invented: InventedServer, directory: string): Promise<void> {
  const pages = new DashboardPages(browser, invented.server);
  const page = await pages.signedIn(invented.ada, await pages.context({ viewport: VIEWPORT, colorScheme: 'light' }));
  await filmed(page, join(directory, 'correcting.gif'), () => correct(page, invented));
  await filmed(page, join(directory, 'live-captions.gif'), () => caption(page, invented));
  await pages.close();
}

/** From the moment at which `act` has prepared the page, and calls what it gets. */
async function filmed(page: Page, file: string, act: () => Promise<() => Promise<void>>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-frames-'));
  const perform = await act();
  const begun = Date.now();
  const shown: { atMs: number; name: string }[] = [];
  const film = { isOver: false };
  const filming = (async (): Promise<void> => {
    while (!film.isOver) {
      const name = `${shown.length}.png`;
      await page.screenshot({ path: join(directory, name) });
      shown.push({ atMs: Date.now() - begun, name });
    }
  })();
  try {
    await perform();
    film.isOver = true;
    await filming;
    const frames = shown.map(({ atMs, name }, index) => {
      const seconds = ((shown[index + 1]?.atMs ?? atMs + 2000) - atMs) / 1000;
      return `file '${name}'\nduration ${seconds.toFixed(3)}`;
    });
    writeFileSync(join(directory, 'frames.txt'), `${frames.join('\n')}\n`);
    const filter = `fps=${FRAMES_PER_SECOND},split[a][b];[a]palettegen=max_colors=${COLOURS}[p];[b][p]paletteuse=dither=none`;
    const input = ['-f', 'concat', '-i', join(directory, 'frames.txt')];
    execFileSync('ffmpeg', ['-v', 'error', '-y', ...input, '-vf', filter, file]);
  } finally {
    film.isOver = true;
    await filming.catch(() => undefined);
    rmSync(directory, { recursive: true });
  }
}

async function correct(page: Page, { server, key }: InventedServer): Promise<() => Promise<void>> {
  const text = 'The meating begins at nine.|We talk about the budget first.|Then everybody reports.';
  const { body } = await transcribe(server, {
    key,
    parts: [['audio', fakeWav(18, { text, language: 'en' })]],
  });
  await page.goto(`${server.url}/dashboard/transcripts/${String(body['id'])}`);
  return async () => {
    await page.waitForTimeout(1000);
    await page.getByRole('button', { name: 'Correct text' }).click();
    await page.waitForTimeout(700);
    await page.locator('#s0 .line-text').click();
    await page.keyboard.press('Home');
    for (let n = 0; n < 'The meat'.length; n += 1) await page.keyboard.press('ArrowRight', { delay: 40 });
    for (let n = 0; n < 2; n += 1) await page.keyboard.press('Backspace', { delay: 200 });
    await page.keyboard.type('et', { delay: 2 * TYPING_MS });
    await page.waitForTimeout(500);
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Saved.').waitFor();
    await page.waitForTimeout(1500);
  };
}

async function caption(page: Page, { server }: InventedServer): Promise<() => Promise<void>> {
  server.engine.utterances.push(
    ' Good morning, and welcome to the council meeting.',
    ' We begin with the minutes of last month.',
    ' Are there any questions?',
  );
  await page.goto(`${server.url}/dashboard/try`);
  await page.getByLabel('Show captions while I speak').check();
  return async () => {
    await page.getByRole('button', { name: 'Record with the microphone' }).click();
    await page.locator('#captions').scrollIntoViewIfNeeded();
    await page.getByText('any questions?').waitFor({ timeout: 60_000 });
    await page.waitForTimeout(1000);
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.waitForTimeout(1000);
  };
}
