/** What clients of OpenAI's audio really send: fields in any order, lists in two spellings, nothing in many words. */
import { expect } from 'chai';
import { englishName } from '../../../src/http/openai/language-names.js';
import { fakeAudio } from '../../support/fake-engine.js';
import { call, form, RawClient, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

const PATH = '/v1/audio/transcriptions';

describe("forms of OpenAI's audio", () => {
  let server: TestServer;
  let customer: Customer;
  before(async () => {
    server = await TestServer.start();
    customer = await server.customer(1000);
  });
  after(() => server.dispose());
  afterEach(async () => {
    expect(server.uploads()).to.deep.equal([]);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  const file: Part = ['file', fakeAudio(3)];
  const model: Part = ['model', 'whisper-1'];
  const post = (parts: Part[], path = PATH): Promise<Answer> =>
    call(server, path, { method: 'POST', headers: bearer(customer.key), body: form(parts) });
  const send = (...parts: Part[]): Promise<Answer> => post([file, model, ...parts]);
  const refused = async (answer: Promise<Answer>, status: number, param: string | null, code = 'invalid_request') => {
    const before = await server.balance(customer);
    const { status: reported, body, headers } = await answer;
    const { error } = body as { error: Record<string, unknown> };
    expect(reported, JSON.stringify(body)).to.equal(status);
    expect(Object.keys(error)).to.deep.equal(['message', 'type', 'param', 'code']);
    expect(error).to.include({ param, code });
    expect(headers.get('x-should-retry')).to.equal('false');
    expect(await server.balance(customer)).to.equal(before);
    return String(error['message']);
  };

  it('takes fields before and after the file, and ignores those it does not know', async () => {
    const { status, body } = await post([
      ...[['user', 'somebody'], ['model', 'fake'], file, ['response_format', 'json']],
      ...[
        ['vad_filter', 'true'],
        ['attachment', Buffer.from('another file')],
        ['languages[]', 'es'],
      ],
    ] as Part[]);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ text: 'Hello, World.', usage: { type: 'duration', seconds: 3 } });
  });

  it('takes a chunked body without a length, in pieces of any size, with any part type and no file name', async () => {
    const body =
      '--edge\r\nContent-Disposition: form-data; name="response_format"\r\n\r\nverbose_json\r\n' +
      '--edge\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: application/octet-stream\r\n\r\n' +
      `${fakeAudio(3).toString()}\r\n` +
      '--edge\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; ' +
      'name="model"\r\n\r\nwhisper-1\r\n' +
      '--edge\r\nContent-Disposition: form-data; name="timestamp_granularities[]"\r\n\r\nword\r\n--edge--\r\n';
    for (const size of [1, 7, 1000]) {
      const client = await RawClient.open(server);
      client.send(
        `POST ${PATH} HTTP/1.1\r\nHost: test\r\nAuthorization: ${bearer(customer.key)['authorization']!}\r\n` +
          'Content-Type: multipart/form-data; boundary=edge\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      for (let at = 0; at < body.length; at += size) {
        const piece = body.slice(at, at + size);
        client.send(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      }
      client.send('0\r\n\r\n');
      const [, answer] = await client.until(/^HTTP\/1\.1 200 [^]*?\r\n\r\n(\{[^]*\})$/);
      const { words } = JSON.parse(answer!) as { words: { word: string }[] };
      expect(words.map(({ word }) => word)).to.deep.equal(['Hello', 'World']);
      client.destroy();
    }
  });

  it('takes lists with [] and bare', async () => {
    const keys = async (...parts: Part[]): Promise<string[]> =>
      Object.keys((await send(['response_format', 'verbose_json'], ...parts)).body);
    for (const name of ['timestamp_granularities', 'timestamp_granularities[]']) {
      expect(await keys([name, 'word']))
        .to.include('words')
        .and.not.to.include('segments');
      expect(await keys([name, 'word'], [name, 'segment'])).to.include.members(['words', 'segments']);
    }
  });

  it('knows nothing when it sees it', async () => {
    const nothing = ['response_format', 'temperature', 'language', 'stream', 'prompt', 'chunking_strategy', 'include'];
    for (const word of ['', 'null', 'None', 'undefined']) {
      const parts = nothing.filter((name) => name !== 'prompt' || word === '').map((name): Part => [name, word]);
      const { status, text, headers } = await send(...parts);
      expect(status, text).to.equal(200);
      expect(headers.get('x-ignored-fields')).to.equal(null);
    }
  });

  it('takes a language with its region, and detects one that the model does not speak', async () => {
    const verbose: Part = ['response_format', 'verbose_json'];
    expect((await send(verbose, ['language', 'de-AT'])).body['language']).to.equal('german');
    for (const language of ['tlh', 'pt-BR']) {
      const { status, body, headers } = await send(verbose, ['language', language]);
      expect(status).to.equal(200);
      expect(body['language']).to.equal('english');
      expect(headers.get('x-ignored-fields')).to.equal('language');
    }
  });

  it('refuses a language that is none', async () => {
    for (const language of ['xx', '__proto__', 'constructor', 'the language of my users', 'e', 'en;drop']) {
      const { status, error } = await send(['language', language]);
      expect({ status, param: error?.param }, language).to.deep.equal({ status: 400, param: 'language' });
      expect(error?.message).to.contain('ISO 639').and.to.contain(`"${language}"`);
    }
  });

  it('cuts a prompt that is too long to its end', async () => {
    await send(['prompt', `${'word '.repeat(400)}Ada Lovelace`]);
    const [prompt] = server.engine.prompts.slice(-1);
    expect(prompt)
      .to.match(/^word word .* word Ada Lovelace$/)
      .and.to.have.length.within(990, 1000);
    await send(['prompt', '界'.repeat(2000)]);
    expect(server.engine.prompts.at(-1)).to.equal('界'.repeat(1000));
    await refused(send(['prompt', 'x'.repeat(60_000)]), 400, 'prompt');
  });

  it('hands the temperature on', async () => {
    await send(['temperature', '0.4']);
    await send(['temperature', '0']);
    expect(server.engine.temperatures.slice(-2)).to.deep.equal([0.4, 0]);
    for (const wrong of ['1.1', '-0.1', 'warm', 'NaN']) await refused(send(['temperature', wrong]), 400, 'temperature');
  });

  it('refuses by name what it does not do', async () => {
    await refused(send(['stream', 'often']), 400, 'stream');
    for (const format of ['srt', 'vtt'])
      await refused(send(['stream', 'true'], ['response_format', format]), 400, 'stream');
    await refused(send(['response_format', 'yaml']), 400, 'response_format');
    await refused(send(['response_format', 'diarized_json']), 400, 'response_format', 'unsupported_diarization');
    await refused(send(['include[]', 'logprobs']), 400, 'include[]');
    await refused(send(['chunking_strategy[type]', 'server_vad']), 400, 'chunking_strategy');
    await refused(send(['chunking_strategy', '{"type":"server_vad"}']), 400, 'chunking_strategy');
    expect((await send(['chunking_strategy', 'auto'])).status).to.equal(200);
    await refused(send(['known_speaker_names[]', 'Ada']), 400, 'known_speaker_names[]');
    await refused(send(['timestamp_granularities[]', 'word']), 400, 'timestamp_granularities[]');
    await refused(
      send(['response_format', 'verbose_json'], ['timestamp_granularities', 'line']),
      400,
      'timestamp_granularities[]',
    );
    const many = Array.from({ length: 65 }, (): Part => ['timestamp_granularities[]', 'word']);
    await refused(send(...many), 400, 'timestamp_granularities');
  });

  it('refuses what is missing, doubled or of the wrong kind', async () => {
    await refused(post([file]), 400, 'model');
    await refused(post([file, ['model', '']]), 400, 'model');
    await refused(post([model]), 400, 'file');
    await refused(post([model, ['file', 'text']]), 400, 'file');
    await refused(post([file, file, model]), 400, 'file');
    await refused(send(model), 400, 'model');
    await refused(post([file, ['model', 'fake'], ['temperature', Buffer.from('0')]]), 400, 'temperature');
    expect(await refused(post([file, ['model', 'base']]), 404, 'model', 'model_not_found')).to.equal(
      'There is no speech model "base"; installed: fake.',
    );
  });

  it('translates only into English, and has no language of its own', async () => {
    server.engine.info.translatesToEnglish = true;
    const spanish: Part = ['file', fakeAudio(3, { language: 'es', text: 'Hola.' })];
    const verbose: Part = ['response_format', 'verbose_json'];
    const { body } = await post([spanish, model, verbose, ['language', 'es']], '/v1/audio/translations');
    expect(body).to.include({
      language: 'english',
      text: 'into English: Hola.',
      task: 'translate',
      duration: 3,
    });
    const [segment] = body['segments'] as { tokens: number[]; avg_logprob: number; no_speech_prob: number }[];
    expect(segment!.tokens).to.have.length.above(2);
    expect(segment).to.include({ avg_logprob: -0.25, no_speech_prob: 0.125 });
    server.engine.info.translatesToEnglish = false;
    await refused(post([spanish, model], '/v1/audio/translations'), 400, null, 'unsupported_translation');
  });

  it('keeps what a client of ours keeps: keys, idempotency, usage', async () => {
    const headers = { ...bearer(customer.key), 'idempotency-key': 'once' };
    const once = (): Promise<Answer> =>
      call(server, PATH, {
        method: 'POST',
        headers,
        body: form([file, model, ['response_format', 'verbose_json']]),
      });
    const [first, again] = [await once(), await once()];
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    expect(again.body).to.deep.equal(first.body);
    const { byEndpoint } = await server.ledger.history.report(customer.account.id, 1);
    expect(byEndpoint.map(({ endpoint }) => endpoint)).to.include(PATH);
  });

  it('answers a path it does not know in the same shape', async () => {
    const { status, body } = await call(server, '/v1/chat/completions', {
      method: 'POST',
      headers: bearer(customer.key),
    });
    expect(status).to.equal(404);
    expect(Object.keys(body['error'] as object)).to.deep.equal(['message', 'type', 'param', 'code']);
  });

  it('names languages as OpenAI does', () => {
    const names = {
      en: 'english',
      es: 'spanish',
      zh: 'chinese',
      bn: 'bengali',
      my: 'myanmar',
      mi: 'maori',
      tl: 'tagalog',
    };
    for (const [code, name] of Object.entries({
      ...names,
      yue: 'cantonese',
      ht: 'haitian creole',
      haw: 'hawaiian',
    }))
      expect(englishName(code)).to.equal(name);
  });
});

describe('CORS', () => {
  const origin = 'https://app.example.com';
  const preflight = { origin, 'access-control-request-method': 'POST' };
  let server: TestServer;
  after(() => server.dispose());

  it('lets pages of configured origins read what the API answers, never with credentials', async () => {
    server = await TestServer.start({ settings: { corsOrigins: [origin, 'http://localhost:3000'] } });
    for (const path of [PATH, '/api/v1/me', '/v1/models', '/v1/nothing']) {
      const { status, headers } = await call(server, path, { headers: { origin } });
      expect(status).to.be.at.least(400);
      expect(headers.get('access-control-allow-origin')).to.equal(origin);
      expect(headers.get('access-control-expose-headers')).to.contain('X-Request-Id');
      expect(headers.get('access-control-allow-credentials')).to.equal(null);
      expect(headers.get('vary')).to.equal('Origin');
      const stranger = await call(server, path, { headers: { origin: 'https://evil.example' } });
      expect(stranger.headers.get('access-control-allow-origin')).to.equal(null);
      expect(stranger.headers.get('vary')).to.equal('Origin');
    }
    expect(
      (await call(server, '/healthz', { headers: { origin } })).headers.get('access-control-allow-origin'),
    ).to.equal(null);
  });

  it('answers a preflight', async () => {
    const asked = 'authorization, x-stainless-lang, x-stainless-retry-count';
    const headers = { ...preflight, 'access-control-request-headers': asked };
    const answer = await call(server, PATH, { method: 'OPTIONS', headers });
    expect(answer.status).to.equal(204);
    expect(answer.headers.get('access-control-allow-methods')).to.contain('POST');
    expect(answer.headers.get('access-control-allow-headers')).to.equal(asked);
    expect(answer.headers.get('access-control-max-age')).to.equal('600');
    const plain = await call(server, PATH, { method: 'OPTIONS', headers: preflight });
    expect(plain.headers.get('access-control-allow-headers')).to.contain('Authorization');
    const foreign = await call(server, PATH, {
      method: 'OPTIONS',
      headers: { ...headers, origin: 'https://evil.example' },
    });
    expect(foreign.headers.get('access-control-allow-methods')).to.equal(null);
    await server.dispose();
  });

  it('is off unless it is configured, and * is everybody', async () => {
    for (const [corsOrigins, allowed] of [
      [[], null],
      [['*'], '*'],
    ] as const) {
      server = await TestServer.start({ settings: { corsOrigins } });
      const { headers } = await call(server, PATH, { method: 'OPTIONS', headers: preflight });
      expect(headers.get('access-control-allow-origin')).to.equal(allowed);
      expect(headers.get('vary')).to.equal(null);
      if (allowed === null) await server.dispose();
    }
  });
});
