/** OpenAI's own client, unmodified, in two versions, against a live session with the real engine. */
import { connect } from 'node:net';
import { expect } from 'chai';
import OpenAI from 'openai';
import { OpenAIRealtimeWS as BetaSocket } from 'openai/beta/realtime/ws';
import { OpenAIRealtimeWS as Socket } from 'openai/realtime/ws';
import CurrentOpenAI from 'openai-current';
import { OpenAIRealtimeTranslationWS } from 'openai-current/realtime/translations/ws';
import { OpenAIRealtimeWS as CurrentSocket } from 'openai-current/realtime/ws';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { at24kHz, pieces, spokenPcm } from '../../support/live-audio.js';
import { loadRealEngine } from '../../support/real-engine.js';
import { loadTranslator, type RealTranslator } from '../../support/real-translator.js';
import { pause, pcmOfSample } from '../../support/speech.js';
import { TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

const TEXT = 'Hello Emma, this is Laura.';
/** 100 ms. */
const PIECE_BYTES = 4800;

/** What all versions have. */
interface AnySocket {
  send(event: object): void;
  close(props?: { code: number; reason: string }): void;
  on(event: 'event', listener: (event: { type: string; [member: string]: unknown }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

describe("OpenAI's client in a live session", () => {
  let server: TestServer<SpeechEngine>;
  let translator: RealTranslator;
  let customer: Customer;

  before(async () => {
    translator = loadTranslator();
    server = await TestServer.start({ engine: await loadRealEngine({ slots: 1, decoder: 'batched' }), translator });
  });
  after(async () => {
    await server.dispose();
    await translator.close();
  });
  beforeEach(async () => {
    customer = await server.customer(10);
  });

  /** Its clients always speak TLS: the connection is made here. */
  const options = () => ({ createConnection: () => connect(server.port, '127.0.0.1') });
  const account = () => ({ apiKey: customer.key.rawKey, baseURL: `${server.url}/v1` });

  const CLIENTS: Record<string, { update: string; opened: string; open: () => AnySocket }> = {
    'openai 7, by its intent': {
      ...{ update: 'session.update', opened: 'session.created' },
      open: () =>
        new CurrentSocket({ intent: 'transcription', options: options() } as never, new CurrentOpenAI(account())),
    },
    'openai 6, by the name of a model': {
      ...{ update: 'session.update', opened: 'session.created' },
      open: () => new Socket({ model: 'whisper-1', options: options() }, new OpenAI(account())),
    },
    'openai 6, beta': {
      ...{ update: 'transcription_session.update', opened: 'transcription_session.created' },
      open: () => new BetaSocket({ model: 'whisper-1', options: options() }, new OpenAI(account())),
    },
  };

  for (const [name, { update, opened, open }] of Object.entries(CLIENTS)) {
    it(`transcribes what is spoken: ${name}`, async () => {
      const socket = open();
      const events: { type: string; [member: string]: unknown }[] = [];
      const errors: Error[] = [];
      socket.on('event', (event) => events.push(event));
      socket.on('error', (error) => errors.push(error));
      await until(() => events.some(({ type }) => type === opened) || errors.length > 0, opened);
      const turns = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 400 };
      const session =
        update === 'session.update'
          ? {
              type: 'transcription',
              audio: { input: { transcription: { model: 'whisper-1', language: 'en' }, turn_detection: turns } },
            }
          : { input_audio_transcription: { model: 'whisper-1', language: 'en' }, turn_detection: turns };
      socket.send({ type: update, session });
      for (const piece of pieces(at24kHz(spokenPcm()), PIECE_BYTES)) {
        socket.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
      }
      const completed = 'conversation.item.input_audio_transcription.completed';
      await until(() => events.some(({ type }) => type === completed) || errors.length > 0, completed);
      expect(errors).to.deep.equal([]);
      expect(events.find(({ type }) => type === completed)).to.include({ transcript: TEXT });
      const deltas = events.filter(({ type }) => type === 'conversation.item.input_audio_transcription.delta');
      expect(deltas.map(({ delta }) => delta).join('')).to.equal(TEXT);
      socket.close();
      expect(await server.balance(customer)).to.equal(9);
    });
  }

  it('translates what is spoken: openai 7', async () => {
    // It takes an https address only.
    const client = new CurrentOpenAI({ ...account(), baseURL: `${server.url.replace('http:', 'https:')}/v1` });
    const secret = await new CurrentOpenAI(account()).realtime.translations.clientSecrets.create({
      session: { model: 'gpt-realtime-translate', audio: { output: { language: 'es' } } },
    });
    expect(secret.session.audio.output?.language).to.equal('es');
    const socket = await OpenAIRealtimeTranslationWS.create(client, {
      model: 'gpt-realtime-translate',
      options: options(),
    });
    const errors: Error[] = [];
    const [spoken, translated]: string[][] = [[], []];
    const updates: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    socket.on('session.created', () => {
      const audio = { input: { transcription: { model: 'whisper-1' } }, output: { language: 'de' } };
      socket.send({ type: 'session.update', session: { audio } });
    });
    socket.on('session.updated', ({ session }) => updates.push(session.audio.output?.language));
    socket.on('session.input_transcript.delta', ({ delta }) => spoken!.push(delta));
    socket.on('session.output_transcript.delta', ({ delta }) => translated!.push(delta));
    await until(() => updates.length > 0 || errors.length > 0, 'session.updated');
    for (const piece of pieces(at24kHz(spokenPcm()), PIECE_BYTES)) {
      socket.send({ type: 'session.input_audio_buffer.append', audio: piece.toString('base64') });
    }
    await socket.finish({ timeoutMs: 60_000 });
    expect(errors).to.deep.equal([]);
    expect(updates).to.deep.equal(['de']);
    expect(spoken!.join('')).to.equal(TEXT);
    expect(translated!.join('')).to.match(/Emma.*Laura/);
    expect(await server.balance(customer)).to.equal(9);
    socket.close();
  });

  it('gets deltas while one speaks, which join to the transcript', async () => {
    const socket = CLIENTS['openai 7, by its intent']!.open();
    const events: { type: string; [member: string]: unknown }[] = [];
    socket.on('event', (event) => events.push(event));
    socket.on('error', (error) => events.push({ type: error.message }));
    await until(() => events.some(({ type }) => type === 'session.created'));
    const transcription = { model: 'whisper-1', language: 'en', delay: 'minimal' };
    socket.send({
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { transcription, turn_detection: null } } },
    });
    const delta = 'conversation.item.input_audio_transcription.delta';
    const speech = [...pieces(at24kHz(Buffer.concat([pcmOfSample(), pause(0.3)])), PIECE_BYTES)];
    // A busy machine decodes what is said so far late: it is said again until then.
    for (let piece = 0; piece < 600 && !events.some(({ type }) => type === delta); piece++) {
      socket.send({ type: 'input_audio_buffer.append', audio: speech[piece % speech.length]!.toString('base64') });
      // Twice as fast as it was spoken.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await until(() => events.some(({ type }) => type === delta), delta);
    expect(events.map(({ type }) => type)).not.to.include('input_audio_buffer.committed');
    socket.send({ type: 'input_audio_buffer.commit' });
    const completed = 'conversation.item.input_audio_transcription.completed';
    await until(() => events.some(({ type }) => type === completed), completed);
    const deltas = events.filter(({ type }) => type === delta);
    expect(deltas).not.to.have.length(0);
    const { transcript } = events.find(({ type }) => type === completed) as { transcript?: string };
    expect(deltas.map((event) => event['delta']).join('')).to.equal(transcript);
    socket.close();
  });
});
