/** Deepgram's own client, unmodified, in a live session with the real engine. */
import { DeepgramClient } from '@deepgram/sdk';
import { expect } from 'chai';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { pieces, spokenPcm } from '../../support/live-audio.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

interface Received {
  type: string;
  is_final?: boolean;
  speech_final?: boolean;
  start?: number;
  duration?: number;
  channel?: { alternatives: { transcript: string; confidence: number; words: { word: string }[] }[] };
}

describe("Deepgram's client in a live session", () => {
  let server: TestServer<SpeechEngine>;
  let customer: Customer;

  before(async () => {
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1 }) });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    customer = await server.customer(10);
  });

  it('gets interim and final results, the end of the utterance, and the metadata of the stream', async () => {
    const client = new DeepgramClient({
      apiKey: customer.key.rawKey,
      baseUrl: server.url.replace('http', 'ws'),
    });
    const socket = await client.listen.v1.connect({
      ...{ model: 'nova-3', language: 'en-US', encoding: 'linear16', sample_rate: '16000', smart_format: 'true' },
      ...{ interim_results: 'true', utterance_end_ms: '1000', vad_events: 'true', endpointing: '300' },
    });
    const received: Received[] = [];
    let closed = false;
    socket.on('message', (message: unknown) => received.push(message as Received));
    socket.on('close', () => (closed = true));
    socket.connect();
    await socket.waitForOpen();
    const speech = spokenPcm({ silenceSeconds: 2.5 });
    for (const piece of pieces(speech, 6400)) socket.sendMedia(piece);
    await until(() => received.some(({ type }) => type === 'UtteranceEnd'), 'UtteranceEnd');
    socket.sendCloseStream({ type: 'CloseStream' });
    await until(() => closed, 'closed');
    const types = received.map(({ type }) => type);
    expect(types).to.include('SpeechStarted');
    expect(types.at(-1)).to.equal('Metadata');
    const finals = received.filter(({ is_final: isFinal }) => isFinal === true);
    expect(finals.map(({ channel }) => channel!.alternatives[0]!.transcript).join('')).to.equal(
      'Hello Emma, this is Laura.',
    );
    expect(finals.some(({ speech_final: isEnd }) => isEnd === true)).to.equal(true);
    const spoken = finals[0]!.channel!.alternatives[0]!.words.map(({ word }) => word);
    expect(spoken).to.deep.equal(['hello', 'emma', 'this', 'is', 'laura']);
    // The final results cover the time line.
    let end = 0;
    for (const { start, duration } of finals) {
      expect(start).to.be.closeTo(end, 0.0015);
      end = start! + duration!;
    }
    expect(end).to.be.closeTo(speech.length / 32_000, 0.0015);
    expect(received.at(-1)).to.include({ channels: 1 });
    expect(await server.balance(customer)).to.equal(9);
  });
});
