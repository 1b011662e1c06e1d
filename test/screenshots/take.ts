/**
 * `npm run screenshots`: every page of the dashboard at 1280 and 360 pixels, light and dark, into docs/screenshots. A
 * real server with
 * invented accounts and an engine that answers as configured.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { packageRoot } from '../../src/package-root.js';
import { launchChromium } from '../support/chromium.js';
import { DashboardPages } from '../support/dashboard-pages.js';
import { buildDashboard } from '../support/dashboard.js';
import { fakeWav } from '../support/fake-engine.js';
import { inventedServer, type InventedServer } from './invented-server.js';

const DIRECTORY = join(packageRoot, 'docs', 'screenshots');
const WIDTHS = [1280, 360] as const;
const SCHEMES = ['light', 'dark'] as const;
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
  const browser = await launchChromium(['--autoplay-policy=no-user-gesture-required', '--hide-scrollbars']);
  try {
    for (const width of WIDTHS) {
      for (const colorScheme of SCHEMES) {
        const pages = new DashboardPages(browser, invented.server);
        const viewport = { width, height: width === 360 ? 740 : 800 };
        const page = await pages.open(await pages.context({ colorScheme, viewport }));
        const shot: Shot = (name) => take(page, join(scratch, 'page.png'), `${name}-${width}-${colorScheme}.png`);
        await signIn(page, shot, invented);
        await everyPage(page, shot, invented);
        await trying(page, shot, invented);
        await pages.close();
      }
    }
  } finally {
    await browser.close();
    await invented.close();
    rmSync(scratch, { recursive: true });
  }
}

/** The whole page, in a palette: a third of the bytes. */
async function take(page: Page, whole: string, name: string): Promise<void> {
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  const width = page.viewportSize()?.width ?? 0;
  const clip = { x: 0, y: 0, width, height: Math.min(height, MOST_PIXELS_HIGH) };
  await page.screenshot({ path: whole, fullPage: true, clip, animations: 'disabled', caret: 'initial' });
  const filter = `split[a][b];[a]palettegen=max_colors=${COLOURS}:reserve_transparent=0[p];[b][p]paletteuse=dither=none`;
  const args = ['-v', 'error', '-y', '-i', whole, '-vf', filter, '-compression_level', '9', '-pred', 'mixed'];
  execFileSync('ffmpeg', [...args, join(DIRECTORY, name)]);
}

async function signIn(page: Page, shot: Shot, { server, ada }: InventedServer): Promise<void> {
  await page.goto(`${server.url}/dashboard/sign-in`);
  await shot('sign-in');
  const { token } = await server.ledger.access.createLink(ada.id);
  await page.goto(`${server.url}/dashboard/link?token=${token}`);
  await shot('link');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** What the navigation leads to, and what lies behind it. */
async function everyPage(page: Page, shot: Shot, { server, grace, key }: InventedServer): Promise<void> {
  const paths = await page
    .locator('header nav a')
    .evaluateAll((links) => links.map((link) => (link as unknown as { pathname: string }).pathname));
  for (const path of paths) {
    await page.goto(server.url + path);
    if (path.endsWith('/load')) await page.waitForTimeout(WATCHED_MS);
    await shot(path.replace(/^\/dashboard\/?/, '').replaceAll('/', '-') || 'overview');
  }
  await page.goto(`${server.url}/dashboard/operator/accounts/${grace.id}`);
  await shot('operator-account');
  await page.goto(`${server.url}/dashboard/operator/audit`);
  await shot('operator-audit');
  await modelsToTheSide(page, shot, server);
  await page.goto(`${server.url}/dashboard/keys/${key.id}/revoke`);
  await shot('key-revoke');
  await page.goto(`${server.url}/dashboard/keys`);
  await page.getByLabel('What it is for').fill('Nightly import');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('#raw-key').waitFor();
  await shot('key-made');
}

/** What a narrow screen does not show of the models at first. */
async function modelsToTheSide(page: Page, shot: Shot, server: InventedServer['server']): Promise<void> {
  if (page.viewportSize()?.width !== 360) return;
  await page.goto(`${server.url}/dashboard/operator/server`);
  await page.evaluate(`document.querySelector('#models .scroll').scrollLeft = 1e4`);
  await shot('operator-models');
}

async function trying(page: Page, shot: Shot, { server, speeches }: InventedServer): Promise<void> {
  for (const { name, language, text, diarize } of speeches) {
    await page.goto(`${server.url}/dashboard/try`);
    const buffer = fakeWav(24, { language, text });
    await page.locator('input[type=file]').setInputFiles({ name: `${name}.wav`, mimeType: 'audio/wav', buffer });
    await page.getByLabel('Translate into').selectOption('en');
    if (diarize) await page.getByLabel('Identify speakers').check();
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await page.getByText('Credits spent').waitFor();
    // A word of the second line lights up.
    await page.evaluate(`new Promise((seen) => {
      const audio = document.querySelector('audio');
      audio.addEventListener('seeked', seen, { once: true });
      document.querySelectorAll('#transcript p')[1].querySelectorAll('.word')[1].click();
      audio.pause();
      audio.currentTime += 0.02;
    })`);
    await page.locator('.word.now').waitFor();
    await shot(`try-${name}`);
  }
}

void main();
