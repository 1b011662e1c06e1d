/** A real browser: Debian's, which `./setup tests` installs. Without it the tests fail, and say so. */
import { readFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

/** Root may not use Chromium's sandbox; pages of ours alone are opened. */
const ARGUMENTS = ['--no-sandbox'];

export async function launchChromium(args: readonly string[] = []): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath: '/usr/bin/chromium', args: [...ARGUMENTS, ...args] });
  } catch (cause) {
    throw new Error('Chromium does not start; "./setup tests" installs it.', { cause });
  }
}

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** What axe-core finds wrong with the page as it is. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(STANDARDS)} })`;
  const { violations } = await page.evaluate<AxeResult>(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
