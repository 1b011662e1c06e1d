/** Deepgram's live protocol: every parameter of its query, its control messages, and how it ends. */
import { expect } from 'chai';
import { FakeDiarizer } from '../../support/fake-diarizer.js';
import { pieces, spokenPcm } from '../../support/live-audio.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { socketRefusal, SocketClient, type SocketEvent } from '../../support/socket-client.js';
import { pcmOfSample, pcmOfSilence } from '../../support/speech.js';
import { until } from '../../support/until.js';

const FORMAT = 'encoding=linear16&sample_rate=16000';

/** Values that are refused by name; what is served otherwise has a test of its own. */
const REFUSED: Record<string, readonly string[]> = {
  model: ['none-such'],
  language: ['klingon', 'ja'],
  encoding: ['amr-nb', 'amr-wb', 'speex', 'g729', 'mp3', 'toString'],
  sample_rate: ['7999', '48001', '16k', '-1', ''],
  channels: ['0', '9', 'two'],
  interim_results: ['yes', '1'],
  vad_events: ['yes'],
  punctuate: ['yes'],
  smart_format: ['yes'],
  endpointing: ['-1', 'soon', '1.5'],
  utterance_end_ms: ['999', '5001', 'x'],
  diarize: ['yes'],
  keep: ['yes', ''],
  ...Object.fromEntries(
    [
      ...['numerals', 'redact', 'search', 'replace', 'detect_entities', 'dictation', 'callback', 'callback_method'],
      ...['multichannel', 'keyterm', 'keywords', 'detect_language', 'paragraphs', 'utterances'],
      ...['summarize', 'topics', 'sentiment', 'intents', 'custom_intent', 'custom_topic', 'measurements'],
    ].map((name) => [name, ['true', 'x']]),
  ),
  no_such_parameter: ['', 'x', 'false'],
};
const IGNORED = ['no_delay', 'filler_words', 'extra', 'profanity_filter', 'tag', 'mip_opt_out', 'version'];

describe("Deepgram's live protocol", () => {
  let server: TestServer;
  let customer: Customer;
  let timers: ManualTimers;

  beforeEach(async () => {
    timers = new ManualTimers();
    server = await TestServer.start({ timers });
    customer = await server.customer();
  });
  afterEach(() => server.dispose());

  const url = (query: string): string => `${server.url}/v1/listen?${query}`;
  const open = (query = ''): Promise<SocketClient> =>
    SocketClient.connect(url(`${FORMAT}&${query}`), [], { headers: bearer(customer.key) });
  const closeStream = async (client: SocketClient): Promise<SocketEvent> => {
    client.send({ type: 'CloseStream' });
    expect((await client.untilClosed()).code).to.equal(1000);
    return client.events.at(-1)!;
  };
  const transcriptOf = ({ channel }: SocketEvent): string => {
    const { alternatives } = channel as { alternatives: { transcript: string }[] };
    return alternatives.map(({ transcript }) => transcript).join();
  };
  const transcripts = (client: SocketClient): string[] =>
    client
      .of('Results')
      .map(transcriptOf)
      .filter((text) => text !== '');

  it('refuses by name what it does not serve, before the upgrade', async () => {
    for (const [name, values] of Object.entries(REFUSED)) {
      for (const value of values) {
        const query = new URLSearchParams({ encoding: 'linear16', sample_rate: '16000', [name]: value });
        if (name === 'utterance_end_ms') query.set('interim_results', 'true');
        const { status, body } = await socketRefusal(url(query.toString()), { headers: bearer(customer.key) });
        expect(status, `${name}=${value}`).to.equal(400);
        const message = (JSON.parse(body) as { err_msg: string }).err_msg;
        // A value names itself.
        expect(message.includes(name) || message.includes(`"${value}"`) || message.includes(value), message).to.equal(
          true,
        );
      }
    }
  });

  it('takes what is off, and names what it ignores', async () => {
    const off = Object.keys(REFUSED).filter((name) => REFUSED[name]?.join() === 'true,x');
    expect(off).to.have.length(21);
    for (const value of ['', 'false']) {
      const client = await open([...off, 'diarize'].map((name) => `${name}=${value}`).join('&'));
      await closeStream(client);
    }
    const sent = new Promise<string | undefined>((resolve) => {
      const query = IGNORED.map((name) => `${name}=true`).join('&');
      void SocketClient.connect(url(`${FORMAT}&${query}`), [], {
        headers: bearer(customer.key),
        finishRequest: (request) => {
          request.once('upgrade', ({ headers }) => resolve(headers['x-ignored-fields'] as string | undefined));
          request.end();
        },
      });
    });
    expect((await sent)?.split(', ')).to.have.members(IGNORED);
  });

  it("takes Deepgram's model names as the default, and every encoding of samples", async () => {
    for (const model of ['nova-3', 'nova-2-general', 'enhanced', 'base', 'fake']) {
      await closeStream(await open(`model=${model}`));
    }
    for (const [encoding, bytes] of Object.entries({ linear16: 2, linear32: 4, mulaw: 1, alaw: 1 })) {
      const query = `encoding=${encoding}&sample_rate=8000&channels=2`;
      const client = await SocketClient.connect(url(query), [], { headers: bearer(customer.key) });
      client.socket.send(Buffer.alloc(8000 * bytes * 2));
      expect(await closeStream(client)).to.include({ type: 'Metadata', duration: 1, channels: 2 });
    }
  });

  it('writes as its parameters say', async () => {
    const spoken = async (query: string): Promise<SocketClient> => {
      const client = await open(query);
      client.socket.send(spokenPcm());
      await until(() => transcripts(client).length > 0);
      await closeStream(client);
      return client;
    };
    expect(transcripts(await spoken('punctuate=true'))).to.deep.equal(['Hello, World.']);
    expect(transcripts(await spoken('smart_format=true'))).to.deep.equal(['Hello, World.']);
    const plain = await spoken('language=multi');
    expect(transcripts(plain)).to.deep.equal(['hello world']);
    expect(JSON.stringify(plain.of('Results'))).to.include('"languages":["en"]');
    expect(plain.of('SpeechStarted')).to.have.length(0);
    expect(server.engine.recognised.at(-1)).to.include({ language: 'auto' });
    const german = await spoken('language=de-DE&vad_events=true');
    expect(german.of('SpeechStarted')).to.have.length(1);
    expect(server.engine.recognised.at(-1)).to.include({ language: 'de' });
  });

  it('reports the start of speech without endpointing, too, and of nothing but speech', async () => {
    const client = await open('vad_events=true&endpointing=false&interim_results=true');
    const silence = pcmOfSilence(1);
    client.socket.send(Buffer.concat([silence, silence]));
    client.send({ type: 'Finalize' });
    await until(() => client.of('Results').length === 1);
    expect(client.of('SpeechStarted')).to.have.length(0);
    client.socket.send(spokenPcm({ silenceSeconds: 3 }));
    const { timestamp } = await client.next('SpeechStarted');
    expect(timestamp).to.be.within(2, 2.6);
    client.send({ type: 'Finalize' });
    await until(() => client.of('Results').some(({ from_finalize, start }) => from_finalize === true && start === 2));
    // No silence has ended it.
    for (const result of client.of('Results')) expect(result['speech_final']).to.equal(false);
    await closeStream(client);
    expect(client.of('SpeechStarted')).to.have.length(1);
  });

  it('has final text of an utterance that goes on, where interim results are on, and never takes it back', async () => {
    await server.dispose();
    server = await TestServer.start({ timers, diarizer: new FakeDiarizer() });
    customer = await server.customer();
    const speech = pcmOfSample();
    const speak = async (query: string): Promise<SocketClient> => {
      server.engine.utterances.push(' one two three four five six seven eight');
      const client = await open(`interim_results=true&utterance_end_ms=1000&endpointing=1000&punctuate=true${query}`);
      for (const piece of pieces(Buffer.concat(Array.from({ length: 4 }, () => speech)), 3200)) {
        client.socket.send(piece);
        timers.pass(100);
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
      client.socket.send(pcmOfSilence(3));
      await until(() => client.of('Results').some((result) => result['speech_final'] === true));
      await closeStream(client);
      return client;
    };
    const client = await speak('');
    const finals = client.of('Results').filter((result) => result['is_final'] === true);
    const last = finals.findIndex((result) => result['speech_final'] === true);
    expect(last, 'finals before the end of speech').to.be.above(0);
    const texts = finals.map(transcriptOf).filter((text) => text !== '');
    expect(texts.join(' ')).to.equal('one two three four five six seven eight');
    finals.slice(1).forEach(({ start }, index) => {
      const { start: before, duration } = finals[index]!;
      expect(start).to.be.closeTo(Number(before) + Number(duration), 0.002);
    });
    // It is reported once, behind the whole utterance.
    expect(client.of('UtteranceEnd')).to.have.length(1);
    expect(client.types.indexOf('UtteranceEnd')).to.be.above(client.events.indexOf(finals[last]!));
    const diarized = await speak('&diarize=true');
    const spoken = diarized
      .of('Results')
      .filter((result) => result['is_final'] === true && transcriptOf(result) !== '');
    expect(spoken.map((result) => result['speech_final'])).to.deep.equal([true]);
  });

  it('says who speaks, where a model distinguishes speakers of the language', async () => {
    const diarizer = new FakeDiarizer();
    diarizer.languages = ['en'];
    const other = await TestServer.start({ timers, diarizer, settings: { diarizationCreditsPerMinute: 3 } });
    try {
      const { key, account } = await other.customer(10);
      const asked = `${other.url}/v1/listen?${FORMAT}&diarize=true`;
      const refusal = async (url: string): Promise<string> => {
        const { status, body } = await socketRefusal(url, { headers: bearer(key) });
        expect(status).to.equal(400);
        return (JSON.parse(body) as { err_code: string }).err_code;
      };
      expect(await refusal(`${asked}&language=de`)).to.equal('UNSUPPORTED_DIARIZATION');
      // Without a model there are none of any language.
      const { status, body } = await socketRefusal(url(`${FORMAT}&diarize=true`), { headers: bearer(customer.key) });
      expect(status).to.equal(400);
      expect(body).to.include('No model that distinguishes speakers is installed');
      for (const [language, speakers] of [
        ['en', [0, 1]],
        ['multi', [0, 1]],
      ] as const) {
        const client = await SocketClient.connect(`${asked}&language=${language}`, [], { headers: bearer(key) });
        client.socket.send(spokenPcm());
        await until(() => transcripts(client).length > 0);
        const words = JSON.stringify(client.of('Results')).match(/"speaker":\d/g);
        expect(words, language).to.deep.equal(speakers.map((speaker) => `"speaker":${speaker}`));
        await closeStream(client);
      }
      // Twice a started minute with its surcharge.
      expect((await other.ledger.credits.balance(account.id)).balance).to.equal(2);
      expect((await socketRefusal(asked, { headers: bearer(key) })).status).to.equal(402);
    } finally {
      await other.dispose();
    }
  });

  it('has a result for every Finalize, and Metadata for CloseStream, also of an empty stream', async () => {
    const client = await open('endpointing=false');
    client.send({ type: 'Finalize' });
    expect(await client.next('Results')).to.include({ from_finalize: true, is_final: true, duration: 0 });
    client.socket.send(Buffer.concat([spokenPcm(), pcmOfSilence(2)]));
    client.send({ type: 'Finalize' });
    await until(() => transcripts(client).length === 1);
    expect(client.of('Results').at(-1)).to.include({ from_finalize: true, speech_final: false });
    client.send({ type: 'Finalize' });
    await until(() => client.of('Results').length === 3);
    expect(client.of('Results').at(-1)).to.include({ from_finalize: true });
    client.send({ type: 'KeepAlive' });
    client.send({ type: 'Nonsense' });
    client.socket.send('no JSON');
    await until(() => client.of('Error').length === 2);
    expect(await closeStream(client)).to.include({ type: 'Metadata' });
    expect(await closeStream(await open())).to.include({ type: 'Metadata', duration: 0 });
    const empty = await open();
    empty.socket.send(Buffer.alloc(0));
    expect((await empty.untilClosed()).code).to.equal(1000);
    expect(await server.balance(customer)).to.equal(99);
  });

  it('has the results of Finalize in the order of the audio, one each, while utterances are worked on', async () => {
    server.engine.utterances.push(' One.');
    server.engine.holdAll();
    const client = await open('punctuate=true');
    client.socket.send(spokenPcm({ silenceSeconds: 0 }));
    for (let i = 0; i < 2; i++) client.send({ type: 'Finalize' });
    await server.engine.untilRunning(1);
    client.send({ type: 'KeepAlive' });
    server.engine.release();
    await until(() => client.of('Results').filter((result) => result['from_finalize']).length === 2);
    const [first, second] = client.of('Results');
    expect(transcripts(client)).to.deep.equal(['One.']);
    expect(first!['duration']).to.be.above(1);
    expect(second!['start']).to.be.closeTo(Number(first!['start']) + Number(first!['duration']), 0.002);
    await closeStream(client);
  });

  it('reports an utterance whose text could not be had, with punctuation and without, and goes on', async () => {
    for (const query of ['punctuate=true', '']) {
      const client = await open(query);
      server.engine.failWith = new Error('It broke.');
      client.socket.send(spokenPcm());
      expect(await client.next('Error')).to.include({ variant: 'Transcription', message: 'internal_error' });
      client.socket.send(spokenPcm());
      await until(() => transcripts(client).length === 1);
      await closeStream(client);
    }
  });

  it('closes after ten seconds without audio or KeepAlive, and not before', async () => {
    const client = await open();
    timers.pass(9999);
    client.send({ type: 'KeepAlive' });
    client.send({ type: 'Finalize' });
    await client.next('Results');
    timers.pass(9999);
    client.socket.send(pcmOfSilence(0.1));
    client.send({ type: 'Finalize' });
    await until(() => client.of('Results').length === 2);
    timers.pass(9999);
    expect(client.closed).to.equal(null);
    timers.pass(1);
    expect(await client.untilClosed()).to.deep.equal({ code: 1011, reason: 'NET-0001' });
  });

  it('closes by 1008 at the end of the balance', async () => {
    customer = await server.customer(1);
    const client = await open();
    const clock = setInterval(() => timers.pass(100), 2);
    // It is worked off for longer than a client may be silent.
    client.socket.send(pcmOfSilence(90));
    expect(await client.untilClosed()).to.deep.equal({ code: 1008, reason: 'insufficient_credits' });
    clearInterval(clock);
    expect(await server.balance(customer)).to.equal(0);
  });
});
