/**
 * `npm run screenshots`: every page of the dashboard at 1280 pixels, light and dark, and at 360, into docs/screenshots.
 * A real server with invented accounts and an engine that answers as configured.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Account } from '../../src/ledger/types.js';
import { packageRoot } from '../../src/package-root.js';
import { launchChromium } from '../support/chromium.js';
import { DashboardPages } from '../support/dashboard-pages.js';
import { buildDashboard } from '../support/dashboard.js';
import { fakeAudio, fakeWav } from '../support/fake-engine.js';
import { showGallery } from './gallery.js';
import { samplePath } from '../native/support.js';
import { microphoneArguments, movingPictures } from './moving.js';
import { inventedServer, UNENDING_SECONDS, type InventedServer } from './invented-server.js';

const DIRECTORY = join(packageRoot, 'docs', 'screenshots');
const VIEWS = [
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
  { width: 360, height: 740, colorScheme: 'light' },
] as const;
const COLOURS = 64;
/** Pages that grow for ever are shown in part. */
const MOST_PIXELS_HIGH = 1600;

/** For the chart to have something to show. */
const WATCHED_MS = 10_000;

type Shot = (name: string) => Promise<void>;

async function main(): Promise<void> {
  buildDashboard();
  mkdirSync(DIRECTORY, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'verbatim-screenshots-'));
  const invented = await inventedServer();
  const browser = await launchChromium([
    ...['--autoplay-policy=no-user-gesture-required', '--hide-scrollbars'],
    ...microphoneArguments(samplePath('en-wav16.wav')),
  ]);
  try {
    await movingPictures(browser, invented, DIRECTORY);
    if (process.argv.includes('--moving')) return;
    for (const { colorScheme, ...viewport } of VIEWS) {
      const pages = new DashboardPages(browser, invented.server);
      const page = await pages.open(await pages.context({ colorScheme, viewport }));
      const file = (name: string): string => `${name}-${viewport.width}-${colorScheme}.png`;
      const shot: Shot = (name) => take(page, join(scratch, 'page.png'), file(name));
      await signIn(page, shot, invented, invented.ada);
      await everyPage(page, shot, invented);
      await states(page, shot, invented);
      await transcribing(page, shot, invented);
      await signIn(page, null, invented, invented.fresh);
      await shot('home-fresh');
      await pages.close();
    }
  } finally {
    await browser.close();
    await invented.close();
    rmSync(scratch, { recursive: true });
  }
}

/** The whole page, in a palette: a third of the bytes. */
async function take(page: Page, whole: string, name: string): Promise<void> {
  // What sticks to the top lies there in the picture, too.
  await page.evaluate('scrollTo(0, 0)');
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  const width = page.viewportSize()?.width ?? 0;
  const clip = { x: 0, y: 0, width, height: Math.min(height, MOST_PIXELS_HIGH) };
  await page.screenshot({ path: whole, fullPage: true, clip, animations: 'disabled', caret: 'initial' });
  const filter = `split[a][b];[a]palettegen=max_colors=${COLOURS}:reserve_transparent=0[p];[b][p]paletteuse=dither=none`;
  const args = ['-v', 'error', '-y', '-i', whole, '-vf', filter, '-compression_level', '9', '-pred', 'mixed'];
  execFileSync('ffmpeg', [...args, join(DIRECTORY, name)]);
}

async function signIn(page: Page, shot: Shot | null, { server }: InventedServer, account: Account): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${server.url}/dashboard/sign-in`);
  await shot?.('sign-in');
  const { token } = await server.ledger.access.createLink(account.id);
  await page.goto(`${server.url}/dashboard/link?token=${token}`);
  await shot?.('link');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
}

/** What the menu leads to, by the names there, and what lies behind it. */
async function everyPage(page: Page, shot: Shot, { server, grace }: InventedServer): Promise<void> {
  const entries = await page.locator('header nav a').evaluateAll((links) =>
    links.map((link) => {
      const { pathname, textContent } = link as unknown as { pathname: string; textContent: string };
      return { pathname, name: textContent.trim().toLowerCase().replaceAll(' ', '-') };
    }),
  );
  for (const { pathname, name } of entries) {
    await page.goto(server.url + pathname);
    if (pathname === '/docs') await page.locator('.opblock').first().waitFor();
    if (pathname.endsWith('/load')) await page.waitForTimeout(WATCHED_MS);
    await shot(name);
  }
  await page.goto(`${server.url}/dashboard/operator/accounts/${grace.id}`);
  await shot('customer');
}

/** What a page shows now and then: questions, results, errors, nothing yet, the menu of a narrow screen. */
async function states(page: Page, shot: Shot, { server, ada, key }: InventedServer): Promise<void> {
  await showGallery(page, server.url, ada);
  await shot('components');
  await page.goto(`${server.url}/dashboard/keys`);
  await page.getByRole('link', { name: `Revoke the key ${key.name}` }).click();
  await page.locator('form[action$="/revoke"]').waitFor();
  await shot('key-revoke');
  await page.goto(`${server.url}/dashboard/keys`);
  await page.getByLabel('What it is for').fill('Nightly import');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('#raw-key').waitFor();
  await shot('key-made');
  await page.goto(`${server.url}/dashboard/keys?notice=key-revoked`);
  await shot('keys-notice');
  await page.goto(`${server.url}/dashboard/nowhere`);
  await shot('not-found');
  if (page.viewportSize()?.width === 360) {
    await page.getByRole('button', { name: 'Menu' }).click();
    await shot('menu');
  }
}

async function transcribing(page: Page, shot: Shot, { server, speeches }: InventedServer): Promise<void> {
  for (const { name, language, text, diarize } of speeches) {
    await page.goto(`${server.url}/dashboard/try`);
    const buffer = fakeWav(24, { language, text });
    await page.locator('input[type=file]').setInputFiles({ name: `${name}.wav`, mimeType: 'audio/wav', buffer });
    await page.getByLabel('Translate into').selectOption('en');
    if (diarize) await page.getByLabel('Identify speakers').check();
    await page.getByRole('button', { name: 'Transcribe', exact: true }).click();
    await page.getByText('Credits spent').waitFor();
    // A word of the last line lights up.
    await page.evaluate(`new Promise((seen) => {
      const audio = document.querySelector('audio');
      audio.addEventListener('seeked', seen, { once: true });
      [...document.querySelectorAll('#transcript .word')].at(-2).click();
      audio.pause();
      audio.currentTime += 0.02;
    })`);
    await page.locator('.word.now').waitFor();
    await shot(`transcribe-${name}`);
    if (diarize) await kept(page, shot);
  }
  await busy(page, shot, server.url);
}

/** The transcript that was made just now: opened, shared, and as somebody sees it who has the link. */
async function kept(page: Page, shot: Shot): Promise<void> {
  await page.getByRole('link', { name: 'Open in Transcripts' }).click();
  await page.locator('#transcript .word').first().waitFor();
  await shot('transcript');
  await page.getByRole('link', { name: 'Show translation' }).click();
  await page.locator('.translated').first().waitFor();
  await shot('transcript-translated');
  await page.getByRole('link', { name: 'Share' }).click();
  await page.getByRole('button', { name: 'Create a link' }).click();
  await page.locator('#share-link').waitFor();
  await shot('transcript-share');
  const address = (await page.locator('#share-link').textContent()) ?? '';
  await page.goto(address);
  await shot('transcript-shared');
}

/** One recording is broken, one is done, one is at work, and one waits. */
async function busy(page: Page, shot: Shot, url: string): Promise<void> {
  await page.goto(`${url}/dashboard/try`);
  const files = [
    { name: 'notes.wav', buffer: Buffer.from('no audio') },
    { name: 'interview.wav', buffer: fakeWav(24, { language: 'en', text: 'And so it began.' }) },
    { name: 'council-meeting.m4a', buffer: fakeAudio(UNENDING_SECONDS) },
    { name: 'voice-memo.m4a', buffer: fakeWav(61) },
  ];
  await page.getByLabel('Choose recordings').setInputFiles(files.map((file) => ({ ...file, mimeType: 'audio/wav' })));
  await page.getByRole('button', { name: 'Transcribe', exact: true }).click();
  await page.getByText('62 %').waitFor();
  await shot('transcribe-busy');
  await page.getByRole('button', { name: 'Cancel all' }).click();
}

void main();
