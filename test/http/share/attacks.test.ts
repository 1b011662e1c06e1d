/** Kept transcripts under attack: other accounts, links that are over, and texts that pretend to be something else. */
import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { fakeAudio, fakeWav } from '../../support/fake-engine.js';
import { keptId, library, sendJson } from '../../support/kept.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { call, form, type Answer } from '../../support/requests.js';
import { bearer, TestServer, type Customer } from '../../support/server.js';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-11-20T12:00:00.000Z');

describe('kept transcripts under attack', () => {
  let server: TestServer;
  let ann: Customer;
  let eve: Customer;
  let now: number;
  before(async () => {
    now = START;
    server = await TestServer.start({ timers: new ManualTimers(), ledgerOptions: { clock: () => now } });
  });
  after(() => server.dispose());
  beforeEach(async () => {
    ann = await server.customer();
    eve = await server.customer();
  });

  const withAudio = ({ account }: Customer): Promise<unknown> =>
    server.ledger.transcripts.decide(account.id, { isOn: true, keepDays: null, keepsAudio: true });
  const shared = async (id: string, body: object = {}): Promise<{ id: string; path: string }> => {
    const expires_at = new Date(now + 7 * DAY_MS).toISOString();
    const answer = await sendJson(server, ann.key, `/${id}/shares`, { method: 'POST', body: { expires_at, ...body } });
    expect(answer.status).to.equal(201);
    return { id: String(answer.body['id']), path: new URL(String(answer.body['url'])).pathname };
  };

  it('are not there for another account, by any path, nor in its search', async () => {
    await withAudio(ann);
    const id = await keptId(server, ann.key, ['audio', fakeAudio(3, { text: 'A secret zebra.' })]);
    const { id: share } = await shared(id);
    const asEve: (() => Promise<Answer>)[] = [
      () => library(server, eve.key, `/${id}`),
      () => sendJson(server, eve.key, `/${id}`, { body: { version: 1, title: 'Mine' } }),
      () => library(server, eve.key, `/${id}/audio`),
      () => library(server, eve.key, `/${id}/export?format=txt`),
      () => library(server, eve.key, `/${id}/shares`),
      () =>
        sendJson(server, eve.key, `/${id}/shares`, {
          method: 'POST',
          body: { expires_at: '2099-01-01T00:00:00.000Z' },
        }),
      () => library(server, eve.key, `/${id}/shares/${share}`, { method: 'DELETE' }),
      () => library(server, eve.key, `/${id}`, { method: 'DELETE' }),
    ];
    for (const attempt of asEve) {
      const { status, error, text } = await attempt();
      expect(status, text).to.equal(404);
      expect(error?.code).to.equal('transcript_not_found');
      expect(text).not.to.contain('zebra');
    }
    for (const query of ['', '?query=zebra', '?query=secret zeb']) {
      expect((await library(server, eve.key, query)).body['transcripts'], query).to.deep.equal([]);
    }
    expect((await library(server, ann.key, `/${id}`)).body).to.include({ version: 1, text: 'A secret zebra.' });
    expect((await library(server, ann.key, `/${id}/shares`)).text).to.contain(share);
  });

  it('are not there without a key, with a revoked one, or of a suspended account', async () => {
    const id = await keptId(server, ann.key);
    expect((await call(server, `/api/v1/transcripts/${id}`)).status).to.equal(401);
    const link = await shared(id);
    expect((await call(server, link.path)).status).to.equal(200);
    await server.ledger.administration.suspend(ann.account.id);
    expect((await library(server, ann.key, `/${id}`)).status).to.equal(403);
    expect((await call(server, link.path)).status).to.equal(404);
    await server.ledger.administration.resume(ann.account.id);
    await server.ledger.keys.revoke(ann.account.id, ann.key.id);
    expect((await library(server, ann.key, `/${id}`)).status).to.equal(401);
  });

  it('have no id that is a path', async () => {
    await withAudio(ann);
    const id = await keptId(server, ann.key, ['audio', fakeWav(1, { text: 'Hi.' })]);
    for (const wrong of [
      ...[
        '..%2F..%2Fverbatim.db',
        '%2e%2e%2fverbatim.db',
        `${id}%00`,
        `${id}%2F..%2F${id}`,
        'tr_..%2f..%2fverbatim.db',
      ],
      ...[`${id}.flac`, `${id.slice(0, -1)}*`, '__proto__', `${id}'--`],
    ]) {
      for (const path of [`/${wrong}`, `/${wrong}/audio`, `/${wrong}/export?format=txt`]) {
        const { status, text } = await library(server, ann.key, path);
        expect(status, path).to.equal(404);
        expect(text).not.to.contain('SQLite');
      }
    }
    expect(readdirSync(`${server.directory}/library`)).to.deep.equal(server.recordings());
  });

  describe('by a link', () => {
    it('are read only, and name neither account nor key; nobody else learns the link', async () => {
      await withAudio(ann);
      const id = await keptId(server, ann.key, ['audio', fakeWav(1, { text: 'To be read.' })]);
      const { path } = await shared(id, { audio: true });
      const { status, text, headers } = await call(server, path);
      expect(status).to.equal(200);
      expect(text).to.contain('To be read.');
      for (const own of [ann.account.id, ann.account.email, ann.key.name, ann.key.prefix]) {
        expect(text, own).not.to.contain(own);
      }
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('x-robots-tag')).to.contain('noindex');
      expect(text).to.match(/<meta name="robots" content="noindex/);
      expect(headers.get('content-security-policy')).to.contain("default-src 'none'").and.not.to.contain('unsafe');
      for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
        expect((await call(server, path, { method })).status, method).to.equal(405);
      }
      const audio = await fetch(`${server.url}${path}/audio`, { headers: { range: 'bytes=0-3' } });
      expect(audio.status).to.equal(206);
      expect(await audio.text()).to.equal('RIFF');
      const token = path.split('/').at(-1)!;
      expect(token).to.match(/^[A-Za-z0-9_-]{43}$/);
      expect(JSON.stringify(server.logs)).not.to.contain(token);
    });

    it('are not heard where the link does not include it', async () => {
      await withAudio(ann);
      const id = await keptId(server, ann.key, ['audio', fakeWav(1, { text: 'Hi.' })]);
      const { path } = await shared(id);
      expect((await call(server, path)).text).not.to.contain('<audio');
      expect((await call(server, `${path}/audio`)).status).to.equal(404);
    });

    it('are gone once it is revoked, has expired, or the transcript is deleted; a guess finds nothing', async () => {
      const id = await keptId(server, ann.key);
      const [first, second, third] = [await shared(id), await shared(id), await shared(id)];
      for (const { path } of [first, second, third]) expect((await call(server, path)).status).to.equal(200);
      await library(server, ann.key, `/${id}/shares/${first.id}`, { method: 'DELETE' });
      expect((await call(server, first.path)).status).to.equal(404);
      expect((await call(server, second.path)).status).to.equal(200);
      now += 8 * DAY_MS;
      expect((await call(server, second.path)).status).to.equal(404);
      now = START;
      expect((await call(server, third.path)).status).to.equal(200);
      await library(server, ann.key, `/${id}`, { method: 'DELETE' });
      expect((await call(server, third.path)).status).to.equal(404);
      for (const guess of ['x', 'A'.repeat(43), '..%2f..%2f', third.path.slice(7, -1)]) {
        const { status, headers } = await call(server, `/share/${guess}`);
        expect(status, guess).to.be.oneOf([400, 404]);
        expect(headers.get('x-robots-tag')).to.contain('noindex');
      }
    });

    it('show markup as text: of titles, speakers and corrections', async () => {
      const evil = '<script>alert(1)</script><img src=x onerror=alert(1)>"\'';
      const id = await keptId(server, ann.key, ['audio', fakeAudio(3, { text: `${evil} end.` })]);
      await sendJson(server, ann.key, `/${id}`, {
        body: { version: 1, title: `Title ${evil}`, segments: [{ index: 0, text: `Corrected ${evil}` }] },
      });
      const { text } = await call(server, (await shared(id)).path);
      expect(text).not.to.contain('<script>alert').and.not.to.contain('<img src=x');
      expect(text).to.contain('&lt;script&gt;');
      expect(text.match(/&lt;img/g)).to.have.length.at.least(3);
    });
  });

  it('are no formulas in a table, and no fields in a document', async () => {
    const id = await keptId(server, ann.key, ['audio', fakeAudio(3, { text: '=1+1' })]);
    for (const [version, cell] of ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '＝1'].entries()) {
      await sendJson(server, ann.key, `/${id}`, {
        body: { version: version + 1, segments: [{ index: 0, text: cell }] },
      });
      const { text } = await library(server, ann.key, `/${id}/export?format=csv`);
      const [, row = ''] = text.split('\r\n');
      expect(row, cell).to.contain(`"'${cell.replaceAll('"', '""')}"`);
    }
  });

  it('keep the name of a file as text, whatever it is', async () => {
    await server.ledger.transcripts.decide(ann.account.id, { isOn: true, keepDays: null, keepsAudio: false });
    const body = form([]);
    body.append('audio', new Blob([new Uint8Array(fakeAudio(3))]), '../../etc/pass<b>wd\r\nX-Evil: 1.wav');
    const { body: sent } = await call(server, '/api/v1/transcribe', { method: 'POST', headers: bearer(ann.key), body });
    const { body: kept } = await library(server, ann.key, `/${String(sent['id'])}`);
    expect(kept['title'])
      .not.to.contain('/')
      .and.not.to.match(/[\r\n]/);
    const { headers } = await library(server, ann.key, `/${String(sent['id'])}/export?format=txt`);
    expect(headers.get('x-evil')).to.equal(null);
    expect(headers.get('content-disposition')).to.match(/^attachment; filename="/);
  });
});
