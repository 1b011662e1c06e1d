/** OpenAI's events: what each is answered with, in both dialects, and what is refused. */
import { expect } from 'chai';
import { at24kHz, pieces, spokenPcm } from '../../support/live-audio.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { SocketClient, type SocketEvent } from '../../support/socket-client.js';
import { pcmOfSilence } from '../../support/speech.js';
import { until } from '../../support/until.js';

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const COMPLETED = `${TRANSCRIPTION}.completed`;
const BUFFER = 'input_audio_buffer';
/** 100 ms. */
const PIECE_BYTES = 4800;
const BYTES_PER_SECOND = 48_000;

describe("OpenAI's live events", () => {
  let server: TestServer;
  let customer: Customer;
  let timers: ManualTimers;

  beforeEach(async () => {
    timers = new ManualTimers();
    server = await TestServer.start({ timers });
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

  const open = (more: Record<string, string> = {}): Promise<SocketClient> =>
    SocketClient.connect(`${server.url}/v1/realtime?intent=transcription`, [], {
      headers: { ...bearer(customer.key), ...more },
    });
  const configure = async (client: SocketClient, input: object): Promise<void> => {
    const before = client.events.length;
    client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    await client.next('session.updated', before);
  };
  const append = (client: SocketClient, pcm: Buffer): void => {
    for (const piece of pieces(pcm, PIECE_BYTES)) {
      client.send({ type: `${BUFFER}.append`, audio: piece.toString('base64') });
    }
  };
  const errorOf = async (client: SocketClient, event: object | Buffer | string): Promise<Record<string, unknown>> => {
    const before = client.of('error').length;
    if (typeof event === 'string' || Buffer.isBuffer(event)) client.socket.send(event);
    else client.send(event);
    await until(() => client.of('error').length > before);
    return client.of('error').at(-1)!['error'] as Record<string, unknown>;
  };

  it('are refused one by one, and the session goes on', async () => {
    const client = await open();
    const bad: [object | Buffer | string, Record<string, unknown>][] = [
      [Buffer.from([1, 2, 3]), { code: 'invalid_request', event_id: null }],
      ['{"type":', { code: 'invalid_request', event_id: null }],
      ['[]', { param: 'event' }],
      [{ event_id: 'e1' }, { code: 'invalid_request' }],
      [
        { type: 'response.create', event_id: 'e2' },
        { param: 'type', event_id: 'e2' },
      ],
      [
        { type: `${BUFFER}.append`, event_id: 'e3' },
        { event_id: 'e3', param: 'event' },
      ],
      [
        { type: `${BUFFER}.append`, audio: '%%%%', event_id: 'e4' },
        { event_id: 'e4', param: 'audio' },
      ],
      [{ type: `${BUFFER}.append`, audio: 7 }, { param: 'event.audio' }],
      [
        { type: `${BUFFER}.commit`, event_id: 'e5' },
        { code: `${BUFFER}_commit_empty`, event_id: 'e5' },
      ],
      [{ type: 'session.update', session: { type: 'realtime' } }, { param: 'session.type' }],
      [{ type: 'session.update', session: 7 }, { param: 'session' }],
      [{ type: 'session.update' }, { param: 'session' }],
    ];
    for (const [event, expected] of bad) {
      const error = await errorOf(client, event);
      expect(error, JSON.stringify(event)).to.include({ type: 'invalid_request_error', ...expected });
      expect(error['message']).to.be.a('string').that.is.not.empty;
    }
    await configure(client, { transcription: { language: 'de' } });
    expect(new Set(client.events.map((event) => event['event_id'])).size).to.equal(client.events.length);
    expect(await server.balance(customer)).to.equal(100);
    client.close();
  });

  it('end a turn by commit alone where there is no detection', async () => {
    const client = await open();
    await configure(client, { turn_detection: null });
    append(client, Buffer.alloc(2400));
    expect(await errorOf(client, { type: `${BUFFER}.commit` })).to.include({ code: `${BUFFER}_commit_empty` });
    append(client, at24kHz(spokenPcm({ silenceSeconds: 3 })));
    client.send({ type: `${BUFFER}.commit` });
    await client.next(COMPLETED);
    const behind = client.types.slice(client.types.lastIndexOf('error') + 1);
    expect(behind).to.deep.equal([
      `${BUFFER}.committed`,
      ...['conversation.item.added', 'conversation.item.done'],
      ...[`${TRANSCRIPTION}.delta`, COMPLETED],
    ]);
    // A second commit has nothing left.
    expect(await errorOf(client, { type: `${BUFFER}.commit` })).to.include({ code: `${BUFFER}_commit_empty` });
    client.close();
  });

  it('abandon what is cleared', async () => {
    const client = await open();
    await configure(client, { turn_detection: null });
    append(client, at24kHz(spokenPcm({ silenceSeconds: 0 })));
    client.send({ type: `${BUFFER}.clear` });
    await client.next(`${BUFFER}.cleared`);
    expect(await errorOf(client, { type: `${BUFFER}.commit` })).to.include({ code: `${BUFFER}_commit_empty` });
    expect(client.of(`${BUFFER}.committed`)).to.have.length(0);
    // It may have been looked at while it was spoken.
    expect(server.engine.recognised.filter(({ dueInMs }) => dueInMs !== null)).to.have.length(0);
    client.close();
  });

  /** Seconds of audio that sessions have worked on. */
  const workedSeconds = async (): Promise<number> => {
    const { text } = await call(server, '/metrics');
    const sums = text.matchAll(/^verbatim_live_audio_seconds_total\{.*\} (\S+)$/gm);
    return [...sums].reduce((total, [, seconds]) => total + Number(seconds), 0);
  };

  /** Each piece when the one before is worked on and decoded. */
  const speak = async (client: SocketClient, pcm: Buffer): Promise<void> => {
    let seconds = await workedSeconds();
    for (const piece of pieces(pcm, PIECE_BYTES)) {
      append(client, piece);
      timers.pass(200);
      seconds += piece.length / BYTES_PER_SECOND;
      // The resampler keeps some of it back.
      await until(async () => (await workedSeconds()) > seconds - 0.09 && server.engine.running === 0);
    }
  };
  const deltasOf = (client: SocketClient): SocketEvent[] => client.of(`${TRANSCRIPTION}.delta`);

  it('have deltas while one speaks, which join to the transcript', async () => {
    server.engine.utterances.push(' One two three four.');
    const client = await open();
    const include = ['item.input_audio_transcription.logprobs'];
    const audio = { input: { transcription: { delay: 'minimal' } } };
    client.send({ type: 'session.update', session: { audio, include } });
    await client.next('session.updated');
    await speak(client, at24kHz(spokenPcm()));
    const completed = await client.next(COMPLETED);
    expect(deltasOf(client).map(({ delta }) => delta)).to.deep.equal(['One two three', ' four.']);
    expect(completed).to.include({ transcript: 'One two three four.' });
    expect(client.types.indexOf(`${TRANSCRIPTION}.delta`)).to.be.below(
      client.types.indexOf(`${BUFFER}.speech_stopped`),
    );
    const logprobs = deltasOf(client).map((event) =>
      (event['logprobs'] as { token: string }[]).map(({ token }) => token),
    );
    expect(logprobs.map((tokens) => tokens.length)).to.deep.equal([3, 1]);
    expect(logprobs.flat().join('').trim()).to.equal('One two three four.');
    expect((completed['logprobs'] as object[]).length).to.equal(4);
    client.close();
  });

  it('have them as late as the client asks for', async () => {
    const counts: number[] = [];
    for (const delay of ['minimal', 'low', 'xhigh']) {
      const client = await open();
      await configure(client, { transcription: { delay } });
      const { session } = client.of('session.updated').at(-1) as SocketEvent & { session: object };
      expect(session).to.have.nested.property('audio.input.transcription.delay', delay);
      await speak(client, at24kHz(spokenPcm()));
      await client.next(COMPLETED);
      counts.push(deltasOf(client).length);
      client.close();
    }
    expect(counts).to.deep.equal([2, 2, 1]);
    const client = await open();
    const update = { type: 'session.update', session: { audio: { input: { transcription: { delay: 'none' } } } } };
    expect(await errorOf(client, update)).to.include({ param: 'session.audio.input.transcription.delay' });
    client.close();
  });

  it('have none of an item that is cleared, behind the clear', async () => {
    const client = await open();
    await configure(client, { transcription: { delay: 'minimal' } });
    await speak(client, at24kHz(spokenPcm({ silenceSeconds: 0 })));
    await until(() => deltasOf(client).length === 1);
    client.send({ type: `${BUFFER}.clear` });
    await client.next(`${BUFFER}.cleared`);
    const behind = client.events.length;
    await speak(client, at24kHz(spokenPcm()));
    const completed = await client.next(COMPLETED);
    const abandoned = deltasOf(client)[0]!['item_id'];
    expect(completed['item_id']).not.to.equal(abandoned);
    expect(client.events.slice(behind).map((event) => event['item_id'])).not.to.include(abandoned);
    client.close();
  });

  it('complete an item that was committed before the clear', async () => {
    const client = await open();
    await configure(client, { turn_detection: null });
    server.engine.holdAll();
    append(client, at24kHz(spokenPcm({ silenceSeconds: 0 })));
    client.send({ type: `${BUFFER}.commit` });
    await client.next(`${BUFFER}.committed`);
    client.send({ type: `${BUFFER}.clear` });
    await client.next(`${BUFFER}.cleared`);
    server.engine.release();
    expect(await client.next(COMPLETED)).to.include({ transcript: 'Hello, World.' });
    client.close();
  });

  it('abandon nothing that was committed before', async () => {
    server.engine.holdAll();
    const client = await open();
    await configure(client, { turn_detection: null });
    append(client, at24kHz(spokenPcm({ silenceSeconds: 0 })));
    client.send({ type: `${BUFFER}.commit` });
    append(client, at24kHz(spokenPcm({ silenceSeconds: 0 })));
    client.send({ type: `${BUFFER}.clear` });
    await client.next(`${BUFFER}.cleared`);
    server.engine.release();
    await client.next(COMPLETED);
    expect(client.of(`${BUFFER}.committed`)).to.have.length(1);
    client.close();
  });

  it('announce each item once, where detection is switched on before its first audio has arrived', async () => {
    const client = await open();
    await configure(client, { turn_detection: null });
    // Less than the resampler holds back.
    append(client, Buffer.alloc(480));
    await configure(client, { turn_detection: { type: 'server_vad' } });
    append(client, at24kHz(spokenPcm()));
    await client.next(COMPLETED);
    expect(client.of(`${BUFFER}.speech_started`)).to.have.length(client.of(`${BUFFER}.committed`).length);
    client.close();
  });

  it('complete items in their order, with deltas that join to the transcript', async () => {
    server.engine.utterances.push(' One.', ' Two.', ' Three.');
    const client = await open();
    for (let i = 0; i < 3; i++) append(client, at24kHz(spokenPcm()));
    // More than is worked on at once.
    const clock = setInterval(() => timers.pass(20), 2);
    await until(() => client.of(COMPLETED).length === 3);
    clearInterval(clock);
    const completed = client.of(COMPLETED);
    expect(completed.map(({ transcript }) => transcript)).to.deep.equal(['One.', 'Two.', 'Three.']);
    const committed = client.of(`${BUFFER}.committed`);
    expect(completed.map((event) => event['item_id'])).to.deep.equal(committed.map((event) => event['item_id']));
    const previous = committed.map((event) => event['previous_item_id']);
    expect(previous).to.deep.equal([null, ...committed.slice(0, -1).map((event) => event['item_id'])]);
    for (const { item_id: item, transcript } of completed) {
      const deltas = client.of(`${TRANSCRIPTION}.delta`).filter((event) => event['item_id'] === item);
      expect(deltas.map(({ delta }) => delta).join('')).to.equal(transcript);
    }
    const started = client.of(`${BUFFER}.speech_started`).map((event) => Number(event['audio_start_ms']));
    const stopped = client.of(`${BUFFER}.speech_stopped`).map((event) => Number(event['audio_end_ms']));
    for (const [index, start] of started.entries()) {
      expect(stopped[index]).to.be.above(start);
      if (index > 0) expect(start).to.be.at.least(stopped[index - 1]! - 300);
    }
    client.close();
  });

  it('change no format behind the first audio, and keep the settings that were', async () => {
    const client = await open();
    await configure(client, { format: { type: 'audio/pcmu' } });
    append(client, Buffer.alloc(800));
    const update = { type: 'session.update', session: { audio: { input: { format: { type: 'audio/pcma' } } } } };
    expect(await errorOf(client, update)).to.include({ param: 'session.audio.input.format' });
    await configure(client, { transcription: { language: 'de' } });
    const { session } = client.of('session.updated').at(-1) as SocketEvent & { session: object };
    expect(session).to.have.nested.property('audio.input.format.type', 'audio/pcmu');
    expect(session).to.have.nested.property('audio.input.transcription.language', 'de');
    client.close();
  });

  it('have the names of the beta for its clients', async () => {
    const client = await open({ 'openai-beta': 'realtime=v1' });
    await client.next('transcription_session.created');
    const session = { input_audio_format: 'pcm16', input_audio_transcription: { model: 'whisper-1' } };
    client.send({ type: 'transcription_session.update', session });
    await client.next('transcription_session.updated');
    append(client, at24kHz(spokenPcm()));
    append(client, at24kHz(pcmOfSilence(0.5)));
    await client.next(COMPLETED);
    expect(client.types).to.include('conversation.item.created');
    expect(client.types).not.to.include('conversation.item.added');
    expect(await errorOf(client, { type: 'session.update', session: {} })).to.include({ param: 'type' });
    client.close();
  });

  it('report an item whose text could not be had, and go on', async () => {
    server.engine.failWith = new Error('It broke.');
    const client = await open();
    // Or a decoding while it is spoken would fail.
    await configure(client, { transcription: { delay: 'xhigh' } });
    append(client, at24kHz(spokenPcm()));
    expect(await client.next(`${TRANSCRIPTION}.failed`)).to.have.nested.property('error.code', 'internal_error');
    append(client, at24kHz(spokenPcm()));
    expect(await client.next(COMPLETED)).to.include({ transcript: 'Hello, World.' });
    client.close();
  });
});
