/** The fields of kept transcripts. */
import { expect } from 'chai';
import { fakeAudio } from '../../support/fake-engine.js';
import { endedJob, postJob } from '../../support/jobs.js';
import { keptId, library, sendJson } from '../../support/kept.js';
import type { Answer, Part } from '../../support/requests.js';
import { AUDIO, type FieldFixture, type FieldRows } from './field-fixture.js';

const TRANSCRIPTS = '/api/v1/transcripts';
const TRANSCRIPT = `${TRANSCRIPTS}/{id}`;
const SHARES = `${TRANSCRIPT}/shares`;

export function transcriptRows(fixture: FieldFixture): FieldRows {
  const keep = (...parts: Part[]): Promise<string> => keptId(fixture.server, fixture.customer.key, ...parts);
  const ask = (path = '', init: { method?: string } = {}): Promise<Answer> =>
    library(fixture.server, fixture.customer.key, path, init);
  const send = (path: string, body: object, method = 'PATCH'): Promise<Answer> =>
    sendJson(fixture.server, fixture.customer.key, path, { method, body });
  const idsOf = ({ body }: Answer): string[] => (body['transcripts'] as { id: string }[]).map(({ id }) => id);
  const share = (id: string, body: object = {}): Promise<Answer> =>
    send(`/${id}/shares`, { expires_at: '2100-01-01T00:00:00.000Z', ...body }, 'POST');
  /** Of a path that takes an id: of one that is kept, and of one that is not. */
  const byId =
    (path: string, init: { method?: string } = {}) =>
    async (): Promise<void> => {
      const id = await keep();
      expect((await ask(`/${id}${path}`, init)).status).to.equal(200);
      expect((await ask(`/tr_AAAAAAAAAAAAAAAAAAAAAA${path}`, init)).error?.code).to.equal('transcript_not_found');
    };

  return {
    'POST /api/v1/transcribe keep': async () => {
      const { body } = await fixture.send(AUDIO, ['keep', 'true']);
      expect((await ask(`/${String(body['id'])}`)).status).to.equal(200);
      const other = await fixture.send(AUDIO, ['keep', 'no']);
      expect((await ask(`/${String(other.body['id'])}`)).status).to.equal(404);
    },
    'POST /api/v1/jobs keep': async () => {
      for (const [value, status] of [
        ['true', 200],
        ['false', 404],
      ] as const) {
        const { body } = await postJob(fixture.server, fixture.customer.key, [AUDIO, ['keep', value]]);
        const job = await endedJob(fixture.server, fixture.customer.key, String(body['id']));
        expect((await ask(`/${(job['result'] as { id: string }).id}`)).status).to.equal(status);
      }
    },
    [`GET ${TRANSCRIPTS} query`]: async () => {
      const id = await keep(['audio', fakeAudio(3, { text: 'A zeppelin rises.' })]);
      expect(idsOf(await ask('?query=zeppelin'))).to.deep.equal([id]);
      expect(idsOf(await ask('?query=zeppelins'))).to.deep.equal([]);
    },
    [`GET ${TRANSCRIPTS} limit`]: async () => {
      await keep();
      await keep();
      expect(idsOf(await ask('?limit=1'))).to.have.length(1);
      expect(idsOf(await ask('?limit=2'))).to.have.length(2);
    },
    [`GET ${TRANSCRIPTS} cursor`]: async () => {
      await keep();
      await keep();
      const { body } = await ask('?limit=1');
      const next = await ask(`?limit=1&cursor=${String(body['next_cursor'])}`);
      expect(idsOf(next)).not.to.deep.equal((body['transcripts'] as { id: string }[]).map(({ id }) => id));
    },
    [`GET ${TRANSCRIPT} id`]: byId(''),
    [`DELETE ${TRANSCRIPT} id`]: byId('', { method: 'DELETE' }),
    [`GET ${TRANSCRIPT}/export id`]: byId('/export?format=txt'),
    [`GET ${SHARES} id`]: byId('/shares'),
    [`GET ${TRANSCRIPT}/audio id`]: async () => {
      const { transcripts } = fixture.server.ledger;
      const { id: account } = fixture.customer.account;
      await transcripts.decide(account, { isOn: false, keepDays: 30, keepsAudio: true });
      await byId('/audio')();
      await transcripts.decide(account, { isOn: false, keepDays: 30, keepsAudio: false });
    },
    [`PATCH ${TRANSCRIPT} id`]: async () => {
      const id = await keep();
      expect((await send(`/${id}`, { version: 1, title: 'New' })).status).to.equal(200);
      expect((await send('/tr_AAAAAAAAAAAAAAAAAAAAAA', { version: 1 })).status).to.equal(404);
    },
    [`PATCH ${TRANSCRIPT} version`]: async () => {
      const id = await keep();
      expect((await send(`/${id}`, { version: 2, title: 'New' })).error?.code).to.equal('conflict');
      expect((await send(`/${id}`, { version: 1, title: 'New' })).body).to.include({ version: 2 });
    },
    [`PATCH ${TRANSCRIPT} title`]: async () => {
      const id = await keep();
      expect((await send(`/${id}`, { version: 1, title: 'Another title' })).body).to.include({
        title: 'Another title',
      });
    },
    [`PATCH ${TRANSCRIPT} speakers`]: async () => {
      const id = await keep(['diarize', 'true']);
      expect((await ask(`/${id}`)).body['speakers']).to.include('S1');
      const { body } = await send(`/${id}`, { version: 1, speakers: { S1: 'Ada' } });
      expect(body['speakers']).to.include('Ada').and.not.to.include('S1');
    },
    [`PATCH ${TRANSCRIPT} segments`]: async () => {
      const id = await keep();
      const { body } = await send(`/${id}`, { version: 1, segments: [{ index: 0, text: 'Other words.' }] });
      expect(body).to.include({ text: 'Other words.' });
    },
    [`GET ${TRANSCRIPT}/export format`]: async () => {
      const id = await keep();
      expect((await ask(`/${id}/export?format=vtt`)).text).to.match(/^WEBVTT/);
      expect((await ask(`/${id}/export?format=txt`)).text).to.equal('Hello, World.\n');
    },
    [`GET ${TRANSCRIPT}/export text`]: async () => {
      const id = await keep(['translate_to', 'de']);
      expect((await ask(`/${id}/export?format=txt&text=translation`)).status).to.equal(200);
      expect((await ask(`/${await keep()}/export?format=txt&text=translation`)).status).to.equal(404);
    },
    [`POST ${SHARES} id`]: async () => {
      expect((await share(await keep())).status).to.equal(201);
      expect((await share('tr_AAAAAAAAAAAAAAAAAAAAAA')).status).to.equal(404);
    },
    [`POST ${SHARES} expires_at`]: async () => {
      const id = await keep();
      expect((await share(id, { expires_at: '2099-02-01T00:00:00.000Z' })).body).to.include({
        expires_at: '2099-02-01T00:00:00.000Z',
      });
      expect((await share(id, { expires_at: '2001-02-01T00:00:00.000Z' })).status).to.equal(400);
    },
    [`POST ${SHARES} audio`]: async () => {
      const id = await keep();
      await share(id, { audio: true });
      await share(id, { audio: false });
      const { shares } = (await ask(`/${id}/shares`)).body as { shares: { audio: boolean }[] };
      expect(shares.map(({ audio }) => audio)).to.deep.equal([false, true]);
    },
    [`DELETE ${SHARES}/{share} id`]: async () => {
      const id = await keep();
      const { body } = await share(id);
      const other = await keep();
      expect((await ask(`/${other}/shares/${String(body['id'])}`, { method: 'DELETE' })).error?.code).to.equal(
        'share_not_found',
      );
      expect((await ask(`/${id}/shares/${String(body['id'])}`, { method: 'DELETE' })).status).to.equal(200);
    },
    [`DELETE ${SHARES}/{share} share`]: async () => {
      const id = await keep();
      const { body } = await share(id);
      expect((await ask(`/${id}/shares/share_unknown`, { method: 'DELETE' })).error?.code).to.equal('share_not_found');
      expect((await ask(`/${id}/shares/${String(body['id'])}`, { method: 'DELETE' })).body).to.include({
        id: body['id'],
      });
    },
  };
}
