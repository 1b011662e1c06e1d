/** The client's live session in Chromium, with a page of another origin and a short-lived key. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { LiveTranscriptionEvent } from '../../src/client/index.js';
import { packageRoot } from '../../src/package-root.js';
import type { SpeechEngine } from '../../src/engine/types.js';
import { launchChromium } from '../support/chromium.js';
import { spokenPcm } from '../support/live-audio.js';
import { loadRealEngine } from '../support/real-engine.js';
import { bearer, TestServer, type Customer } from '../support/server.js';

const MODULES = join(packageRoot, 'src', 'client', 'dist', 'browser');

/** Speaks in one session, and resolves to its events, or to the error that it threw. */
const PAGE = `<!doctype html><script type="module">
import { openLive } from '/browser.js';
window.speak = async ({ input, connection, audio }) => {
  const samples = Uint8Array.from(atob(audio), (character) => character.charCodeAt(0));
  const session = openLive(input, connection);
  const events = [];
  try {
    for (let at = 0; at < samples.length; at += 3200) await session.send(samples.subarray(at, at + 3200));
    await session.finish();
    for await (const event of session) events.push(event);
  } catch ({ name, closeCode }) {
    return { name, closeCode };
  }
  return events;
};
document.title = 'ready';
</script>`;

describe("The client's live session in Chromium", function () {
  this.timeout(120_000);
  let browser: Browser;
  let pages: Server;
  let origin: string;
  let server: TestServer<SpeechEngine>;
  let customer: Customer;

  before(async () => {
    pages = createServer(({ url = '/' }, response) => {
      const isModule = url.endsWith('.js');
      response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
      response.end(isModule ? readFileSync(join(MODULES, url)) : PAGE);
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    const engine = await loadRealEngine({ slots: 1 });
    server = await TestServer.start({ engine, settings: { corsOrigins: [origin] } });
    customer = await server.customer(10);
    browser = await launchChromium();
  });
  after(async () => {
    await browser.close();
    pages.close();
    await server.dispose();
  });

  async function speak(accessToken: string): Promise<unknown> {
    const page = await browser.newPage();
    try {
      await page.goto(origin);
      await page.waitForFunction("document.title === 'ready'");
      const input = { language: 'en' };
      const connection = { baseUrl: server.url, accessToken };
      const audio = spokenPcm().toString('base64');
      return await page.evaluate(`speak(${JSON.stringify({ input, connection, audio })})`);
    } finally {
      await page.close();
    }
  }

  it('gets the text of what is spoken', async () => {
    const granted = await fetch(`${server.url}/v1/auth/grant`, { method: 'POST', headers: bearer(customer.key) });
    const { access_token: accessToken } = (await granted.json()) as { access_token: string };
    const events = (await speak(accessToken)) as LiveTranscriptionEvent[];
    const finals = events.flatMap((event) => (event.type === 'final' && event.text !== '' ? [event.text] : []));
    expect(finals, JSON.stringify(events)).to.deep.equal(['Hello Emma, this is Laura.']);
    expect(await server.balance(customer)).to.equal(9);
  });

  it('throws where its key is refused', async () => {
    // Chromium tells a page no more of a handshake that fails.
    expect(await speak('vb_none')).to.deep.equal({ name: 'LiveTranscriptionError', closeCode: 1006 });
  });
});
