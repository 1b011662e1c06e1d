/** OpenAI's own client for browsers, unmodified, in Chromium: over TLS, from a page of another origin. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { launchChromium } from '../../support/chromium.js';
import { at24kHz, spokenPcm } from '../../support/live-audio.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { selfSigned, TlsFront } from '../../support/tls-front.js';

const TEXT = 'Hello Emma, this is Laura.';
const PACKAGES = ['openai', 'openai-current'];
const MODULES: Readonly<Record<string, string>> = { '.mjs': 'text/javascript', '.js': 'text/javascript' };

/** Speaks in one session, and resolves to all events. */
const PAGE = `<!doctype html><script type="module">
window.speak = async ({ version, path, name, account, props, update, audio, pieceBytes }) => {
  const { default: OpenAI } = await import('/' + version + '/index.mjs');
  const { [name]: Socket } = await import('/' + version + '/' + path);
  const socket = new Socket(props, new OpenAI(account));
  const events = [];
  const isOver = new Promise((resolve) => {
    socket.on('error', (error) => resolve(events.push({ type: 'error', message: String(error.message) })));
    socket.socket.addEventListener('close', ({ code }) => resolve(events.push({ type: 'closed', code })));
    socket.on('event', (event) => {
      events.push(event);
      if (event.type.endsWith('.completed')) resolve();
      if (!event.type.endsWith('session.created')) return;
      socket.send(update);
      for (let at = 0; at < audio.length; at += pieceBytes) {
        socket.send({ type: 'input_audio_buffer.append', audio: audio.slice(at, at + pieceBytes) });
      }
    });
  });
  await isOver;
  socket.close();
  return events;
};
document.title = 'ready';
</script>`;

interface BrowserEvent {
  type: string;
  [member: string]: unknown;
}

describe("OpenAI's client in Chromium", function () {
  this.timeout(120_000);
  let browser: Browser;
  let pages: TlsFront;
  let front: TlsFront;
  let server: TestServer<SpeechEngine>;
  let customer: Customer;

  before(async () => {
    const certificate = selfSigned();
    pages = await TlsFront.answering(({ url = '/' }, response) => {
      const [content, type] = fileAt(url);
      response.writeHead(content === null ? 404 : 200, { 'content-type': type }).end(content);
    }, certificate);
    server = await TestServer.start({
      engine: await loadRealEngine({ slots: 1 }),
      settings: { corsOrigins: [pages.url] },
    });
    front = await TlsFront.to(server.port, certificate);
    customer = await server.customer(10);
    browser = await launchChromium();
  });
  after(async () => {
    await browser.close();
    await front.close();
    await pages.close();
    await server.dispose();
  });

  const turns = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 400 };
  const transcription = { model: 'whisper-1', language: 'en' };
  const CURRENT = {
    type: 'session.update',
    session: { type: 'transcription', audio: { input: { transcription, turn_detection: turns } } },
  };
  const BETA = {
    type: 'transcription_session.update',
    session: { input_audio_transcription: transcription, turn_detection: turns },
  };

  async function speak(origin: string, choices: object, apiKey: string): Promise<BrowserEvent[]> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page: Page = await context.newPage();
    try {
      await page.goto(`${origin}/page.html`);
      await page.waitForFunction("document.title === 'ready'");
      const spoken = {
        ...{ name: 'OpenAIRealtimeWebSocket', path: 'realtime/websocket.mjs', ...choices },
        account: { apiKey, baseURL: `${front.url}/v1`, dangerouslyAllowBrowser: true },
        // 100 ms, in base64.
        ...{ audio: at24kHz(spokenPcm()).toString('base64'), pieceBytes: 6400 },
      };
      return await page.evaluate<BrowserEvent[]>(`speak(${JSON.stringify(spoken)})`);
    } finally {
      await context.close();
    }
  }

  const ephemeralKey = async (): Promise<string> => {
    const made = await fetch(`${server.url}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { ...bearer(customer.key), 'content-type': 'application/json' },
      body: JSON.stringify({ session: { type: 'transcription' } }),
    });
    return ((await made.json()) as { value: string }).value;
  };

  const CLIENTS: Record<string, [choices: object, key: () => Promise<string>]> = {
    'openai 7, by its intent, with an ephemeral key': [
      { version: 'openai-current', props: { intent: 'transcription' }, update: CURRENT },
      ephemeralKey,
    ],
    'openai 6, by the name of a model': [
      { version: 'openai', props: { model: 'whisper-1', dangerouslyAllowBrowser: true }, update: CURRENT },
      () => Promise.resolve(customer.key.rawKey),
    ],
    'openai 6, beta': [
      {
        ...{ version: 'openai', path: 'beta/realtime/websocket.mjs', update: BETA },
        props: { model: 'whisper-1', dangerouslyAllowBrowser: true },
      },
      () => Promise.resolve(customer.key.rawKey),
    ],
  };

  for (const [name, [choices, key]] of Object.entries(CLIENTS)) {
    it(`transcribes what is spoken: ${name}`, async () => {
      const before = await server.balance(customer);
      const events = await speak(pages.url, choices, await key());
      const completed = 'conversation.item.input_audio_transcription.completed';
      expect(events.at(-1), JSON.stringify(events)).to.include({ type: completed, transcript: TEXT });
      expect(await server.balance(customer)).to.equal(before - 1);
    });
  }

  it('gets no session in a page of an origin that is not named', async () => {
    const others = await TlsFront.answering((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>ready</title>');
    }, selfSigned());
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    try {
      const page = await context.newPage();
      await page.goto(others.url);
      const code = await page.evaluate<number>(`new Promise((resolve) => {
        const protocols = ['realtime', 'openai-insecure-api-key.${customer.key.rawKey}'];
        const url = '${front.url.replace('https', 'wss')}/v1/realtime?intent=transcription';
        const socket = new WebSocket(url, protocols);
        socket.addEventListener('open', () => resolve(0));
        socket.addEventListener('close', ({ code }) => resolve(code));
      })`);
      expect(code).to.equal(1006);
    } finally {
      await context.close();
      await others.close();
    }
  });
});

function fileAt(url: string): [content: Buffer | string | null, type: string] {
  const path = normalize(new URL(url, 'https://localhost').pathname);
  if (path === '/page.html') return [PAGE, 'text/html'];
  const [, name = ''] = path.split('/');
  const type = MODULES[/\.\w+$/.exec(path)?.[0] ?? ''];
  if (!PACKAGES.includes(name) || type === undefined) return [null, 'text/plain'];
  const root = dirname(require.resolve(name));
  return [readFileSync(join(root, path.slice(name.length + 1))), type];
}
