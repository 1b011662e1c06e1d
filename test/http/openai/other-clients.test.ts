/**
 * Other clients of OpenAI's audio, unmodified or byte by byte: the AI SDK, axios as chat applications use it, the SDK
 * for Python.
 */
import { Readable } from 'node:stream';
import axios from 'axios';
import { expect } from 'chai';
import FormData from 'form-data';
import OpenAI, { toFile } from 'openai';
import OpenAiYearOld from 'openai-year-old';
import { fakeAudio } from '../../support/fake-engine.js';
import { RawClient } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';
import { until } from '../../support/until.js';

const PATH = '/v1/audio/transcriptions';
const TEXT = 'Hello, World.';

describe("other clients of OpenAI's audio", () => {
  let server: TestServer;
  let customer: Customer;
  before(async () => {
    server = await TestServer.start();
    customer = await server.customer(1000);
  });
  after(() => server.dispose());
  afterEach(async () => {
    server.engine.release();
    await until(() => server.engine.running === 0 && server.uploads().length === 0);
    expect(await server.ledger.audit()).to.deep.equal([]);
  });

  describe('the AI SDK', () => {
    // Version 3 of it asks for a language and segments only where it is given options, if only empty ones.
    const ask = async (providerOptions = { openai: {} }, abortSignal?: AbortSignal) => {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const openai = createOpenAI({ apiKey: customer.key.rawKey, baseURL: `${server.url}/v1` });
      return openai.transcription('whisper-1').doGenerate({
        ...{ audio: new Uint8Array(fakeAudio(3)), mediaType: 'audio/wav', providerOptions },
        ...(abortSignal ? { abortSignal } : {}),
      });
    };

    it('reads text, language, length and segments, which its schema checks', async () => {
      const { text, language, durationInSeconds, segments, warnings } = await ask();
      expect({ text, language, durationInSeconds, warnings }).to.deep.equal({
        ...{ text: TEXT, language: 'en', durationInSeconds: 3, warnings: [] },
      });
      expect(segments).to.deep.equal([{ text: TEXT, startSecond: 0, endSecond: 3 }]);
    });

    it('reads words', async () => {
      const { segments } = await ask({ openai: { timestampGranularities: ['word'], language: 'de' } });
      expect(segments.map(({ text }) => text)).to.deep.equal(['Hello', 'World']);
    });

    it('raises errors with what the answer said', async () => {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const stranger = createOpenAI({ apiKey: 'vb_nobody', baseURL: `${server.url}/v1` });
      const asked = { audio: new Uint8Array(fakeAudio(3)), mediaType: 'audio/wav' };
      const error = await stranger
        .transcription('whisper-1')
        .doGenerate(asked)
        .then(
          () => expect.fail('answered'),
          (failure: unknown) => failure as Error & { statusCode: number },
        );
      expect([error.name, error.statusCode]).to.deep.equal(['AI_APICallError', 401]);
      expect(error.message).to.contain('API key');
    });

    it('gives up', async () => {
      server.engine.holdAll();
      const controller = new AbortController();
      const before = await server.balance(customer);
      const gone = ask(undefined, controller.signal).catch((error: unknown) => error as Error);
      await server.engine.untilRunning(1);
      controller.abort();
      expect(((await gone) as Error).name).to.equal('AbortError');
      await until(() => server.engine.running === 0);
      expect(await server.balance(customer)).to.equal(before);
    });
  });

  describe('axios', () => {
    it('sends an object with a stream that has a path, as chat applications do', async () => {
      const file = Object.assign(Readable.from(fakeAudio(3)), { path: 'audio.webm' });
      const headers = { 'Content-Type': 'multipart/form-data', ...bearer(customer.key) };
      const asked = { file, model: 'whisper-1', language: 'en' };
      const { data } = await axios.post<{ text: string }>(server.url + PATH, asked, { headers });
      expect(data.text).to.equal(TEXT);
    });

    it('sends a form of form-data, with a buffer and a length or a stream without one', async () => {
      for (const file of [fakeAudio(3), Readable.from(fakeAudio(3))]) {
        const form = new FormData();
        form.append('file', file, { filename: 'audio.mp3', contentType: 'audio/mpeg' });
        form.append('model', 'whisper-1');
        form.append('response_format', 'text');
        const headers = { ...form.getHeaders(), ...bearer(customer.key) };
        const { data } = await axios.post<string>(server.url + PATH, form, { headers });
        expect(data).to.equal(`${TEXT}\n`);
      }
    });

    it('reads events as a stream', async () => {
      const form = new FormData();
      form.append('stream', 'true');
      form.append('model', 'whisper-1');
      form.append('file', fakeAudio(3), { filename: 'a' });
      const headers = { ...form.getHeaders(), ...bearer(customer.key) };
      const { data } = await axios.post<Readable>(server.url + PATH, form, {
        headers,
        responseType: 'stream',
      });
      const chunks: Buffer[] = [];
      for await (const chunk of data) chunks.push(chunk as Buffer);
      expect(Buffer.concat(chunks).toString()).to.match(/^event: transcript\.text\.delta\ndata: \{/);
    });
  });

  describe('the SDK for Python', () => {
    /** What httpx makes of it: fields, then files; a boundary of 32 hexadecimal digits. */
    const request = (fields: readonly [string, string][]): string => {
      const edge = '9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d';
      const parts = fields.map(
        ([name, value]) => `--${edge}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      const body =
        `${parts.join('')}--${edge}\r\nContent-Disposition: form-data; name="file"; filename="speech.wav"\r\n` +
        `Content-Type: audio/x-wav\r\n\r\n${fakeAudio(3).toString()}\r\n--${edge}--\r\n`;
      const headers = [
        ...[`POST ${PATH} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`, 'Accept-Encoding: gzip, deflate'],
        ...['Connection: keep-alive', 'Accept: application/json', 'User-Agent: OpenAI/Python 3.3.1'],
        ...['X-Stainless-Lang: python', 'X-Stainless-Package-Version: 3.3.1', 'X-Stainless-OS: Linux'],
        ...['X-Stainless-Arch: x64', 'X-Stainless-Runtime: CPython', 'X-Stainless-Runtime-Version: 3.13.5'],
        `Authorization: ${bearer(customer.key)['authorization']!}`,
        ...['X-Stainless-Async: false', 'x-stainless-retry-count: 0', 'x-stainless-read-timeout: 600'],
        ...[`Content-Length: ${body.length}`, `Content-Type: multipart/form-data; boundary=${edge}`],
      ];
      return `${headers.join('\r\n')}\r\n\r\n${body}`;
    };

    it('gets JSON, twice over one connection', async () => {
      const client = await RawClient.open(server);
      for (let n = 0; n < 2; n += 1) {
        client.received = '';
        client.send(request([['model', 'whisper-1']]));
        const [, body] = await client.until(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n(\{.*\})$/);
        expect(JSON.parse(body!)).to.include({ text: TEXT });
      }
      client.destroy();
    });

    it('gets what its lists ask for', async () => {
      const client = await RawClient.open(server);
      const fields: [string, string][] = [
        ['model', 'whisper-1'],
        ['response_format', 'verbose_json'],
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
        ['temperature', '0.2'],
      ];
      client.send(request(fields));
      const [, body] = await client.until(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n(\{.*\})$/);
      expect(JSON.parse(body!)).to.include.keys('words', 'segments');
      expect(server.engine.temperatures.at(-1)).to.equal(0.2);
      client.destroy();
    });

    it('gets events, whatever it accepts', async () => {
      const client = await RawClient.open(server);
      client.send(
        request([
          ['model', 'gpt-4o-transcribe'],
          ['stream', 'true'],
        ]),
      );
      const [head] = await client.until(/^HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/);
      expect(head)
        .to.match(/content-type: text\/event-stream/i)
        .and.not.to.match(/content-encoding/i);
      await client.until(/event: transcript\.text\.done\ndata: \{.*\}\n\n\r\n0\r\n\r\n$/);
      client.destroy();
    });
  });

  for (const [version, Client] of [
    ['newest', OpenAI],
    ['a year old', OpenAiYearOld as unknown as typeof OpenAI],
  ] as const) {
    describe(`OpenAI's own, streaming: ${version}`, () => {
      const listen = async () => {
        const openai = new Client({ apiKey: customer.key.rawKey, baseURL: `${server.url}/v1` });
        const file = await toFile(fakeAudio(180, { text: 'One.|Two.|Three.' }), 'a.wav');
        return openai.audio.transcriptions.create({ file, model: 'whisper-1', stream: true });
      };

      it('raises an error in the middle as its own, and repeats nothing', async () => {
        server.engine.holdAll(1);
        const before = server.logs.length;
        const stream = await listen();
        const reported: unknown[] = [];
        const failed = (async () => {
          for await (const event of stream) {
            reported.push(event);
            if (reported.length > 1) continue;
            server.engine.failWith = new Error('Out of order.');
            server.engine.release();
          }
        })().then(
          () => expect.fail('it ended well'),
          (error: unknown) => error,
        );
        const error = (await failed) as InstanceType<typeof OpenAI.APIError>;
        expect(error).to.be.instanceOf(Client.APIError);
        expect(error).to.include({ code: 'internal_error', type: 'server_error' });
        expect(server.logs.slice(before).filter(({ status }) => status !== undefined)).to.have.length(1);
      });

      it('is left in the middle, and pays for that much', async () => {
        server.engine.holdAll(2);
        const before = await server.balance(customer);
        let pieces = 0;
        for await (const event of await listen()) if (event.type === 'transcript.text.delta' && ++pieces === 2) break;
        await until(() => server.engine.running === 0 && server.uploads().length === 0);
        expect(before - (await server.balance(customer))).to.equal(2);
      });
    });
  }
});
