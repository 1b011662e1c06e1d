/** What the first edition left on a disk opens and serves: see test/fixtures/edition-1/README.md. */
import { chmodSync, copyFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SpeechEngine } from '../../src/engine/types.js';
import { readConfig } from '../../src/service/config.js';
import { readTuned, withTuned } from '../../src/service/tuned.js';
import { loadRealEngine } from '../support/real-engine.js';
import { call, transcribe, type Answer } from '../support/requests.js';
import { bearer, TestServer } from '../support/server.js';

const EDITION = join(__dirname, '..', 'fixtures', 'edition-1');
const audio = readFileSync(join(EDITION, 'audio.flac'));

interface StoredAnswer {
  key: string;
  idempotencyKey: string;
  fields: Record<string, string>;
  body: string;
}

const known = JSON.parse(readFileSync(join(EDITION, 'known.json'), 'utf8')) as {
  writtenAt: string;
  firstKey: string;
  managementKey: string;
  adasKey: string;
  revokedKey: string;
  accounts: { id: string; email: string; name: string; credits: number }[];
  answers: StoredAnswer[];
};

describe('a database of the first edition', function () {
  this.timeout(60_000);
  let server: TestServer<SpeechEngine>;

  beforeEach(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'verbatim-edition-'));
    for (const name of ['verbatim.db', 'verbatim.db.secret']) {
      copyFileSync(join(EDITION, name), join(directory, name));
    }
    chmodSync(join(directory, 'verbatim.db.secret'), 0o600); // git does not keep it
    server = await TestServer.start({
      directory,
      engine: await loadRealEngine({ slots: 1 }),
      translator: { supports: () => true, translate: () => Promise.reject(new Error('translated again')) },
      // Within the day that answers are kept.
      ledgerOptions: { secret: null, clock: () => Date.parse(known.writtenAt) + 3_600_000 },
    });
  });
  afterEach(async () => {
    expect(await server.ledger.audit()).to.deep.equal([]);
    await server.dispose();
  });

  const balanceOf = async (key: string): Promise<unknown> =>
    (await call(server, '/api/v1/me', { headers: bearer(key) })).body['credits'];
  const send = ({ key, idempotencyKey, fields }: Omit<StoredAnswer, 'body'>): Promise<Answer> =>
    transcribe(server, {
      key,
      parts: [['audio', audio], ...Object.entries(fields)],
      headers: { 'idempotency-key': idempotencyKey },
    });

  it('knows its keys, the revoked one too, and what they may do', async () => {
    const me = async (key: string): Promise<unknown> =>
      (await call(server, '/api/v1/me', { headers: bearer(key) })).body['user'];
    const [local, ada] = known.accounts.map(({ id, email, name }) => ({ id, email, name }));
    expect(await me(known.firstKey)).to.deep.equal(local);
    expect(await me(known.adasKey)).to.deep.equal(ada);
    const revoked = await call(server, '/api/v1/me', { headers: bearer(known.revokedKey) });
    expect(revoked.error?.code).to.equal('invalid_api_key');
    const keys = async (key: string): Promise<Answer> => call(server, '/api/v1/keys', { headers: bearer(key) });
    expect((await keys(known.managementKey)).body['keys']).to.have.length(2);
    expect((await keys(known.firstKey)).error?.code).to.equal('insufficient_scope');
  });

  it('has its balances and usage, and releases what a killed server held', async () => {
    expect(server.ledger.recovery).to.deep.equal({ holds: 1, credits: 20, idempotencyRecords: 1 });
    expect(await balanceOf(known.firstKey)).to.deep.equal({ balance: 998, lifetime_purchased: 1000 });
    expect(await balanceOf(known.adasKey)).to.deep.equal({ balance: 29, lifetime_purchased: 30 });
    const usage = await call(server, '/api/v1/usage?days=2', { headers: bearer(known.firstKey) });
    expect(usage.body).to.deep.include({
      total_minutes: 2,
      total_credits: 2,
      by_endpoint: [{ endpoint: '/api/v1/transcribe', minutes: 2 }],
    });
  });

  for (const answer of known.answers) {
    it(`replays its stored answer "${answer.idempotencyKey}" byte by byte, uncharged`, async () => {
      const before = await balanceOf(answer.key);
      const again = await send(answer);
      expect(again.status, again.text).to.equal(200);
      expect(again.headers.get('idempotency-replayed')).to.equal('true');
      expect(again.text).to.equal(answer.body);
      expect(await balanceOf(answer.key)).to.deep.equal(before);
      const other = await send({ ...answer, fields: { ...answer.fields, language: 'de' } });
      expect(other.error?.code).to.equal('idempotency_conflict');
    });
  }

  it('takes up the request that the kill cut short, charges it once, and replays it from then on', async () => {
    const cut = { key: known.adasKey, idempotencyKey: 'cut', fields: {} };
    const first = await send(cut);
    expect(first.status, first.text).to.equal(200);
    expect(first.headers.get('idempotency-replayed')).to.equal(null);
    expect(await balanceOf(known.adasKey)).to.deep.include({ balance: 28 });
    expect((await send(cut)).text).to.equal(first.text);
    expect(await balanceOf(known.adasKey)).to.deep.include({ balance: 28 });
  });
});

describe('tuned settings of the first edition', () => {
  const tuned = readTuned(join(EDITION, 'tuned.json'));
  const config = readConfig({ VERBATIM_DEVICE: 'cpu' }, EDITION);
  const then = {
    modelName: 'verbatim-small',
    devices: ['cpu'],
    decoder: { kind: 'whisper.cpp' as const },
    cores: 2,
    modelSha256: () => Promise.resolve(tuned?.model.sha256 ?? ''),
  };

  it('hold good where they were found', async () => {
    const { config: applied, tuned: note } = await withTuned(config, {}, tuned, then);
    expect(applied).to.include({ slots: 2, threads: 1 });
    expect(note).to.contain('2 slots x 1 threads');
  });

  it('are refused elsewhere, with the reason', async () => {
    const cores = availableParallelism() + 2;
    const { config: applied, tuned: note } = await withTuned(config, {}, tuned, { ...then, cores });
    expect(applied).to.equal(config);
    expect(note).to.contain(`is not used: it is for a number of cores of 2, not ${cores}`);
  });
});
