/** A browser's MediaRecorder, as pages use it with Deepgram: WebM as it is recorded, in a live session. */
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { samplePath } from '../../native/support.js';
import { liveDecodersOf } from '../../support/child-processes.js';
import { launchChromium } from '../../support/chromium.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { TestServer } from '../../support/server.js';
import { until } from '../../support/until.js';

interface Recorded {
  transcripts: string[];
  duration: number;
  code: number;
  type: string;
}

/** Records until a result has text, or for a minute. */
const PAGE = (url: string, key: string): string => `new Promise((resolve, reject) => {
  const socket = new WebSocket('${url}', ['token', '${key}']);
  const transcripts = [];
  let [duration, recorder] = [0, null];
  socket.onopen = async () => {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    recorder = new MediaRecorder(stream, { mimeType: 'audio/webm;codecs=opus' });
    recorder.ondataavailable = ({ data }) => { if (data.size > 0 && socket.readyState === 1) socket.send(data); };
    recorder.start(100);
  };
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === 'Metadata') duration = message.duration;
    const text = message.channel?.alternatives[0].transcript ?? '';
    if (text === '' || !message.is_final) return;
    transcripts.push(text);
    if (recorder.state === 'inactive') return;
    recorder.onstop = () => socket.send('{"type":"CloseStream"}');
    recorder.stop();
  };
  socket.onclose = ({ code }) => resolve({ transcripts, duration, code, type: recorder?.mimeType });
  socket.onerror = () => reject(new Error('The connection failed.'));
})`;

describe('a live session from a browser’s MediaRecorder', function () {
  this.timeout(180_000);
  let browser: Browser;
  let server: TestServer<SpeechEngine>;

  before(async () => {
    browser = await launchChromium([
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${samplePath('en-wav16.wav')}%noloop`,
    ]);
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1 }) });
  });
  after(async () => {
    await browser.close();
    await server.dispose();
  });

  it('is transcribed while it is recorded', async () => {
    const customer = await server.customer(10);
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${server.url}/healthz`);
    const url = `${server.url.replace('http', 'ws')}/v1/listen?punctuate=true&endpointing=500`;
    const recorded = await page.evaluate<Recorded>(PAGE(url, customer.key.rawKey));
    expect(recorded.transcripts.join(' ')).to.equal('Hello Emma, this is Laura.');
    expect(recorded).to.include({ code: 1000, type: 'audio/webm;codecs=opus' });
    expect(recorded.duration).to.be.above(1.5);
    expect(await server.balance(customer)).to.equal(9);
    await until(() => liveDecodersOf().length === 0);
    await page.context().close();
  });
});
