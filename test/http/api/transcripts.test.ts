/** Kept transcripts over HTTP: kept, found, read, corrected, exported, deleted. */
import { expect } from 'chai';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fakeAudio, fakeWav } from '../../support/fake-engine.js';
import { fakeTranslator } from '../../support/fake-translator.js';
import { endedJob, postJob } from '../../support/jobs.js';
import { keptId, library, sendJson, TRANSCRIPTS_PATH } from '../../support/kept.js';
import { call, form, transcribe, type Answer, type Part } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

interface Segment {
  start: number;
  end: number;
  text: string;
}

const translator = fakeTranslator((text, { to }) => `${to}: ${text}`);

describe('kept transcripts', () => {
  let server: TestServer;
  let customer: Customer;
  before(async () => {
    server = await TestServer.start({ translator });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    customer = await server.customer();
  });
  afterEach(() => expect(server.uploads()).to.deep.equal([]));

  const keep = (...parts: Part[]): Promise<string> => keptId(server, customer.key, ...parts);
  const ask = (path = ''): Promise<Answer> => library(server, customer.key, path);
  const change = (id: string, body: object): Promise<Answer> => sendJson(server, customer.key, `/${id}`, { body });
  const listed = async (query = ''): Promise<Record<string, unknown>[]> =>
    (await ask(query)).body['transcripts'] as Record<string, unknown>[];
  const wav = (seconds: number, text: string): Part => ['audio', fakeWav(seconds, { text })];

  describe('are kept', () => {
    it('where the request asks for it: for 30 days, with words and their times, whatever the answer has', async () => {
      const { body } = await transcribe(server, {
        key: customer.key,
        parts: [
          ['audio', fakeAudio(6, { text: 'One two.|Three four.' })],
          ['keep', 'yes'],
        ],
      });
      expect(body).to.have.all.keys('id', 'duration_sec', 'language', 'text', 'credits_used', 'credits_remaining');
      const kept = (await ask(`/${String(body['id'])}`)).body;
      expect(kept).to.include({ id: body['id'], text: body['text'], title: 'recording.wav', version: 1, audio: false });
      expect(kept['source']).to.deep.equal({ kind: 'api', name: 'plain' });
      expect((kept['words'] as { word: string }[]).map(({ word }) => word)).to.deep.equal([
        ...['One', 'two.', 'Three', 'four.'],
      ]);
      const days = (Date.parse(String(kept['expires_at'])) - Date.parse(String(kept['created_at']))) / 86_400_000;
      expect(days).to.be.closeTo(30, 0.01);
    });

    it('as the account decided, by any endpoint; not where the request says no', async () => {
      const settings = { isOn: true, keepDays: null, keepsAudio: true };
      await server.ledger.transcripts.decide(customer.account.id, settings);
      const sent = await transcribe(server, { key: customer.key });
      const openai = await call(server, '/v1/audio/transcriptions', {
        method: 'POST',
        headers: bearer(customer.key),
        body: form([
          ['file', fakeAudio(3)],
          ['model', 'whisper-1'],
        ]),
      });
      expect(openai.status).to.equal(200);
      const deepgram = (query: string): Promise<Answer> =>
        call(server, `/v1/listen${query}`, {
          method: 'POST',
          headers: { authorization: `Token ${customer.key.rawKey}` },
          body: new Uint8Array(fakeAudio(3)),
        });
      expect((await deepgram('')).status).to.equal(200);
      expect((await deepgram('?keep=false')).status).to.equal(200);
      await transcribe(server, {
        key: customer.key,
        parts: [
          ['audio', fakeAudio(3)],
          ['keep', 'false'],
        ],
      });
      const all = await listed();
      expect(all).to.have.length(3);
      expect(all.map(({ title }) => title)).to.deep.equal(['hello world', 'recording.wav', 'recording.wav']);
      expect(all.at(-1)).to.include({ id: sent.body['id'], expires_at: null });
    });

    it('of a job, once it has succeeded, under the name of its key', async () => {
      const { body } = await postJob(server, customer.key, [wav(3, 'A job.'), ['keep', 'true']]);
      const job = await endedJob(server, customer.key, String(body['id']));
      const { id, segments } = job['result'] as { id: string; segments?: unknown };
      expect(segments).to.equal(undefined);
      expect((await ask(`/${id}`)).body).to.deep.include({ text: 'A job.', source: { kind: 'job', name: 'plain' } });
    });

    it('with their translation', async () => {
      const id = await keep(['audio', fakeAudio(3, { language: 'de', text: 'Hallo.' })], ['translate_to', 'en']);
      const { translation } = (await ask(`/${id}`)).body as { translation: { text: string; segments: Segment[] } };
      expect(translation).to.include({ text: 'en: Hallo.', language: 'en' });
      expect(translation.segments).to.have.length(1);
      const file = await ask(`/${id}/export?format=txt&text=translation`);
      expect(file.text).to.equal('en: Hallo.\n');
    });

    it('not by default, and no field but a boolean is taken', async () => {
      await transcribe(server, { key: customer.key });
      expect(await listed()).to.deep.equal([]);
      const refused = await transcribe(server, {
        key: customer.key,
        parts: [
          ['audio', fakeAudio(3)],
          ['keep', 'maybe'],
        ],
      });
      expect(refused.error).to.include({ code: 'invalid_request', param: 'keep' });
      const deepgram = await call(server, '/v1/listen?keep=maybe', {
        method: 'POST',
        headers: { authorization: `Token ${customer.key.rawKey}` },
        body: new Uint8Array(fakeAudio(3)),
      });
      expect(deepgram.text).to.contain('keep must be true or false.');
    });

    it('by a request that says so differently only as another request', async () => {
      const headers = { 'idempotency-key': 'kept' };
      const send = (value: string): Promise<Answer> =>
        transcribe(server, {
          key: customer.key,
          parts: [
            ['audio', fakeAudio(3)],
            ['keep', value],
          ],
          headers,
        });
      const first = await send('true');
      expect((await send('1')).body['id']).to.equal(first.body['id']);
      expect((await send('false')).error).to.include({ code: 'idempotency_conflict' });
    });
  });

  describe('with their recording', () => {
    beforeEach(async () => {
      const settings = { isOn: true, keepDays: 30, keepsAudio: true };
      await server.ledger.transcripts.decide(customer.account.id, settings);
    });
    const audioOf = (id: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${server.url}${TRANSCRIPTS_PATH}/${id}/audio`, { headers: { ...bearer(customer.key), ...headers } });

    it('serve it as it was received, for this user alone on the disk', async () => {
      const [, sent] = wav(3, 'Hello.') as [string, Buffer];
      const id = await keep(wav(3, 'Hello.'));
      expect((await ask(`/${id}`)).body).to.include({ audio: true });
      const answer = await audioOf(id);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('audio/wav');
      expect(answer.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
      expect(Buffer.from(await answer.arrayBuffer()).equals(sent)).to.equal(true);
      const path = join(server.directory, 'library', id);
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(statSync(join(server.directory, 'library')).mode & 0o777).to.equal(0o700);
      expect(readFileSync(path).equals(sent)).to.equal(true);
    });

    it('serve parts of it', async () => {
      const [, sent] = wav(3, 'Hello.') as [string, Buffer];
      const id = await keep(wav(3, 'Hello.'));
      const part = await audioOf(id, { range: 'bytes=4-11' });
      expect(part.status).to.equal(206);
      expect(part.headers.get('content-range')).to.equal(`bytes 4-11/${sent.length}`);
      expect(Buffer.from(await part.arrayBuffer()).equals(sent.subarray(4, 12))).to.equal(true);
      const beyond = await audioOf(id, { range: `bytes=${sent.length}-` });
      expect(beyond.status).to.equal(200);
      expect((await beyond.arrayBuffer()).byteLength).to.equal(sent.length);
    });

    it('keep one that had to be converted as it came, of a request and of a job', async () => {
      const recording = Buffer.concat([Buffer.from('recording of '), fakeAudio(3, { text: 'Converted.' })]);
      const id = await keep(['audio', recording]);
      expect(Buffer.from(await (await audioOf(id)).arrayBuffer()).equals(recording)).to.equal(true);
      const { body } = await postJob(server, customer.key, [['audio', recording]]);
      const job = await endedJob(server, customer.key, String(body['id']));
      const { id: second } = job['result'] as { id: string };
      expect(Buffer.from(await (await audioOf(second)).arrayBuffer()).equals(recording)).to.equal(true);
      expect(server.jobFiles()).to.deep.equal([]);
    });

    it('are not there where text alone is kept', async () => {
      const settings = { isOn: true, keepDays: 30, keepsAudio: false };
      await server.ledger.transcripts.decide(customer.account.id, settings);
      const id = await keep();
      const { status, error } = await ask(`/${id}/audio`);
      expect(status).to.equal(404);
      expect(error?.code).to.equal('transcript_not_found');
      expect(server.recordings()).not.to.include(id);
    });
  });

  describe('are found', () => {
    it('newest first, page by page', async () => {
      const ids = [await keep(), await keep(), await keep()].reverse();
      const first = await ask('?limit=2');
      expect((first.body['transcripts'] as { id: string }[]).map(({ id }) => id)).to.deep.equal(ids.slice(0, 2));
      const rest = await ask(`?limit=2&cursor=${String(first.body['next_cursor'])}`);
      expect((rest.body['transcripts'] as { id: string }[]).map(({ id }) => id)).to.deep.equal(ids.slice(2));
      expect(rest.body['next_cursor']).to.equal(null);
      for (const [query, param] of [
        ['limit=0', 'limit'],
        ['cursor=!', 'cursor'],
        ['query=a&query=b', 'query'],
      ] as const) {
        expect((await ask(`?${query}`)).error, query).to.include({ code: 'invalid_request', param });
      }
    });

    it('by their words, with the text that has them and its time', async () => {
      const id = await keep(['audio', fakeAudio(8, { text: 'Good morning everybody.|Über München reden wir.' })]);
      await keep(['audio', fakeAudio(3, { text: 'Something else.' })]);
      const [found, ...others] = await listed('?query=munch');
      expect(others).to.deep.equal([]);
      expect(found).to.include({ id });
      expect(found!['snippet']).to.deep.equal({ text: 'Über München reden wir.', at: 4 });
    });

    it('after a correction by the new words, and no longer by the old ones', async () => {
      const id = await keep(['audio', fakeAudio(3, { text: 'Wether today.' })]);
      await change(id, { version: 1, segments: [{ index: 0, text: 'Weather today.' }] });
      expect((await listed('?query=weather')).map((one) => one['id'])).to.deep.equal([id]);
      expect(await listed('?query=wether')).to.deep.equal([]);
    });
  });

  describe('are corrected', () => {
    it('in place: words that stay keep their times, and the original stays', async () => {
      const id = await keep(['audio', fakeAudio(4, { text: 'We red the book.' })]);
      const before = (await ask(`/${id}`)).body as { words: { word: string }[]; segments: Segment[] };
      const { status, body } = await change(id, {
        version: 1,
        title: ' A  title\n',
        segments: [{ index: 0, text: 'We read the book.' }],
      });
      expect(status).to.equal(200);
      expect(body).to.include({ version: 2, title: 'A title', text: 'We read the book.' });
      const words = body['words'] as { word: string; probability: number }[];
      expect(words.map(({ word }) => word)).to.deep.equal(['We', 'read', 'the', 'book.']);
      for (const at of [0, 2, 3]) expect(words[at]).to.deep.equal(before.words[at]);
      expect(words[1]).to.deep.equal({ ...before.words[1], word: 'read', probability: 1 });
      const original = await server.ledger.transcripts.content(customer.account.id, id, 'original');
      expect(original?.content.text).to.contain('red').and.not.to.contain('read');
      const [made] = await server.ledger.transcripts.changes(customer.account.id, id, { limit: 5, before: null });
      expect(made).to.deep.nested.include({ version: 2, 'change.by': { kind: 'key', name: 'plain' } });
    });

    it('only in the version that the client has seen', async () => {
      const id = await keep();
      expect((await change(id, { version: 1, title: 'One' })).status).to.equal(200);
      const stale = await change(id, { version: 1, title: 'Two' });
      expect(stale.status).to.equal(409);
      expect(stale.error).to.include({ code: 'conflict', param: 'version' });
      expect((await ask(`/${id}`)).body).to.include({ title: 'One', version: 2 });
    });

    it('not by what they do not have', async () => {
      const id = await keep();
      for (const [body, param] of [
        [{ title: 'x' }, 'version'],
        [{ version: 1, title: ' ' }, 'title'],
        [{ version: 1, title: 'x'.repeat(201) }, 'title'],
        [{ version: 1, speakers: { S1: 'Ada' } }, 'speakers'],
        [{ version: 1, speakers: { __proto__x: 'Ada' } }, 'speakers'],
        [{ version: 1, segments: [{ index: 7, text: 'x' }] }, 'segments'],
        [{ version: 1, segments: [{ index: 0, text: 'x'.repeat(2001) }] }, 'segments'],
        [{ version: 1, segments: [{ index: 0 }] }, 'segments'],
        [{ version: 1, segments: [0, 0].map((index) => ({ index, text: 'x' })) }, 'segments'],
        [{ version: 1, wrong: 1 }, 'wrong'],
      ] as const) {
        const { status, error } = await change(id, body);
        expect(status, JSON.stringify(body)).to.equal(400);
        expect(error, JSON.stringify(body)).to.include({ code: 'invalid_request', param });
      }
      expect((await ask(`/${id}`)).body).to.include({ version: 1 });
    });
  });

  describe('are exported', () => {
    it('as files that are named after them', async () => {
      const id = await keep(['audio', fakeAudio(3, { text: 'Hello, World.' })]);
      await change(id, { version: 1, title: 'Gespräch "eins"/../zwei.mp3' });
      for (const [format, type, content] of [
        ['txt', 'text/plain; charset=utf-8', 'Hello, World.\n'],
        ['srt', 'application/x-subrip; charset=utf-8', '1\n00:00:00,000 --> 00:00:02,192\nHello, World.\n'],
        ['vtt', 'text/vtt; charset=utf-8', 'WEBVTT\n\n00:00:00.000 --> 00:00:02.192\nHello, World.\n'],
        ['json', 'application/json; charset=utf-8', '"text":"Hello, World."'],
        ['csv', 'text/csv; charset=utf-8', '"0.000","2.192","","Hello, World."\r\n'],
        ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'PK'],
      ] as const) {
        const { status, headers, text } = await ask(`/${id}/export?format=${format}`);
        expect(status, format).to.equal(200);
        expect(headers.get('content-type'), format).to.equal(type);
        expect(text, format).to.contain(content);
        expect(headers.get('content-disposition'), format).to.equal(
          `attachment; filename="Gespr?ch eins .. zwei.${format}"; filename*=UTF-8''Gespr%C3%A4ch%20eins%20..%20zwei.${format}`,
        );
      }
      expect((await ask(`/${id}/export?format=pdf`)).error).to.include({ param: 'format' });
      expect((await ask(`/${id}/export`)).error).to.include({ param: 'format' });
      expect((await ask(`/${id}/export?format=txt&text=translation`)).error?.code).to.equal('transcript_not_found');
    });
  });

  describe('are deleted', () => {
    it('with their recording and the stored answer: a repeat of the request is a conflict', async () => {
      const settings = { isOn: true, keepDays: null, keepsAudio: true };
      await server.ledger.transcripts.decide(customer.account.id, settings);
      const send = (): Promise<Answer> =>
        transcribe(server, { key: customer.key, headers: { 'idempotency-key': 'deleted' } });
      const { body } = await send();
      const id = String(body['id']);
      expect(server.recordings()).to.include(id);
      const deleted = await library(server, customer.key, `/${id}`, { method: 'DELETE' });
      expect(deleted.status).to.equal(200);
      expect(deleted.body).to.include({ id });
      expect(existsSync(join(server.directory, 'library', id))).to.equal(false);
      expect((await ask(`/${id}`)).status).to.equal(404);
      expect((await library(server, customer.key, `/${id}`, { method: 'DELETE' })).status).to.equal(404);
      expect(await listed('?query=hello')).to.deep.equal([]);
      const again = await send();
      expect(again.status).to.equal(409);
    });

    it('with the job that made them', async () => {
      const { body } = await postJob(server, customer.key, [
        ['audio', fakeAudio(3)],
        ['keep', 'true'],
      ]);
      const job = await endedJob(server, customer.key, String(body['id']));
      const { id } = job['result'] as { id: string };
      await library(server, customer.key, `/${id}`, { method: 'DELETE' });
      const gone = await call(server, `/api/v1/jobs/${String(body['id'])}`, { headers: bearer(customer.key) });
      expect(gone.text).not.to.contain('Hello, World.');
    });
  });
});
