/** A ledger that moves from SQLite to PostgreSQL. */
import { expect } from 'chai';
import { copyToPostgres } from '../../src/ledger/copy/to-postgres.js';
import { COPIED_TABLES } from '../../src/ledger/copy/tables.js';
import { hashPassword } from '../../src/ledger/access/password.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { POSTGRESQL, type Place } from './backends.js';
import { listTranscripts, ROOM, transcript } from './transcript-support.js';
import { Bench, customer, FileBench, hold, refusal, settlement, type KeyHolder } from './support.js';

const BROWSER = { browser: 'Firefox', address: '192.0.2.7' };
const CHEAP = { cost: 16, blockSize: 8, parallelization: 1 };

describe('ledger: copied from SQLite to PostgreSQL', () => {
  let old: FileBench;
  let bench: Bench;
  let place: Place;
  let ann: KeyHolder;

  beforeEach(async () => {
    old = new FileBench();
    bench = new Bench(POSTGRESQL);
    place = await bench.place();
    const ledger = await old.server();
    ann = await customer(ledger, 'ann@example.com', 100);
    await fill(ledger);
    await ledger.close();
  });
  afterEach(async () => {
    await old.dispose();
    await bench.dispose();
  });

  /** Something in every table. */
  async function fill(ledger: Ledger): Promise<void> {
    const { account, key } = ann;
    const state = await ledger.idempotency.begin({ accountId: account.id, key: 'k', fingerprint: 'f' });
    if (state.state !== 'new') throw new Error(state.state);
    const result = { text: 'hello \ud800 "\0" \u{1f600}' };
    await ledger.holds.settle(await hold(ledger, ann, 5), settlement(3, { idempotencyToken: state.token, result }));
    await ledger.holds.release(await hold(ledger, ann, 1));
    await ledger.operators.note({ operatorId: account.id, action: 'audit', subject: null });
    await ledger.jobs.create({
      ...{
        id: 'job_1',
        accountId: account.id,
        keyId: key.id,
        requestId: 'req_2',
        options: { language: 'en' },
      },
      ...{ audioSeconds: 90.5, credits: 2, webhook: null, mostOpen: 9, idempotency: null },
    });
    await ledger.jobs.create({
      ...{ id: 'job_2', accountId: account.id, keyId: key.id, requestId: 'req_3', options: {} },
      ...{
        audioSeconds: 3,
        credits: 1,
        webhook: { url: 'https://example.com/', secret: 'whsec_AAAA' },
        mostOpen: 9,
      },
      idempotency: null,
    });
    await ledger.jobs.end(account.id, 'job_2', 'cancel');
    await ledger.access.setPassword(account.id, await hashPassword('correct horse battery', 'a@b.c', CHEAP), BROWSER);
    await ledger.access.createLink(account.id);
    const kept = { id: 'tr_1', content: { text: 'Grüße \ud800' }, searchTexts: ['Grüße', '北京'], keepDays: 30 };
    await ledger.transcripts.decide(account.id, { isOn: true, keepDays: null, keepsAudio: true });
    await ledger.transcripts.keep(transcript(account.id, kept), ROOM);
    const text = { content: { text: 'Grüsse' }, searchTexts: ['Grüsse', '北京'], translationLanguage: 'en' };
    await ledger.transcripts.update(account.id, 'tr_1', { version: 1, change: { by: 'Ann' }, text }, ROOM);
    await ledger.transcripts.createShare(account.id, 'tr_1', { expiresAt: '2027-01-01', includesAudio: true });
    await ledger.access.dashboardKey(account.id);
  }

  it('are the same to whoever asks, and go on where they were', async () => {
    const noted = { action: 'database-copied', detail: old.path };
    const { rows } = await copyToPostgres(old.path, place.address, noted);
    expect(rows).to.include({
      accounts: 1,
      api_keys: 2,
      holds: 2,
      jobs: 2,
      usage_events: 1,
      webhook_events: 1,
    });
    const [before, after] = [await old.cli(), await bench.server()];
    const accountId = ann.account.id;
    for (const ask of [
      (ledger: Ledger) => ledger.accounts.list(),
      (ledger: Ledger) => ledger.keys.list(accountId),
      (ledger: Ledger) => ledger.keys.authenticate(ann.key.rawKey),
      (ledger: Ledger) => ledger.credits.balance(accountId),
      (ledger: Ledger) => ledger.credits.packs(accountId, 10),
      (ledger: Ledger) => ledger.history.report(accountId, 30),
      (ledger: Ledger) => ledger.history.charged(accountId, { limit: 10, before: null }),
      (ledger: Ledger) => ledger.jobs.list(accountId, { status: null, limit: 10, after: null }),
      (ledger: Ledger) => ledger.webhooks.list({ state: null, limit: 10 }),
      (ledger: Ledger) => ledger.access.listSessions(accountId),
      (ledger: Ledger) => ledger.access.findPassword('ann@example.com'),
      (ledger: Ledger) => ledger.transcripts.settings(accountId),
      (ledger: Ledger) => ledger.transcripts.usage(accountId),
      (ledger: Ledger) => listTranscripts(ledger.transcripts, accountId, { words: '北京 gruss' }),
      (ledger: Ledger) => ledger.transcripts.content(accountId, 'tr_1', 'original'),
      (ledger: Ledger) => ledger.transcripts.changes(accountId, 'tr_1', { limit: 9, before: null }),
      (ledger: Ledger) => ledger.transcripts.shares(accountId, 'tr_1'),
      (ledger: Ledger) => ledger.audit(),
    ]) {
      expect(await ask(after), ask.toString()).to.deep.equal(await ask(before));
    }
    const page = { limit: 10, before: null };
    const [copy, ...others] = await after.operators.list(page);
    expect(copy).to.include({ ...noted, operatorId: null, outcome: 'done' });
    expect(others).to.deep.equal(await before.operators.list(page));
    const asked = { accountId, key: 'k', fingerprint: 'f' };
    const replay = await after.idempotency.begin(asked);
    expect(replay).to.have.nested.property('answer.result.text', 'hello \ud800 "\0" \u{1f600}');
    expect(Number(await hold(after, ann, 1)), 'no id is used again').to.be.above(4);
    const { lease } = (await after.jobs.take({ leaseMs: 1000, mostPerAccount: 2 }))!;
    expect(lease.id).to.equal('job_1');
    expect(await after.audit()).to.deep.equal([]);
  });

  it('are the same row for row, of suspended and deleted accounts, payments, sessions, webhooks and undelivered answers', async () => {
    const ledger = await old.server();
    await fillMore(ledger);
    await ledger.close();
    await copyToPostgres(old.path, place.address);
    for (const { name, select = `SELECT * FROM ${name}` } of COPIED_TABLES) {
      const [columns, rows] = old.raw((database) => {
        const query = database.prepare<[], Row>(select);
        return [query.columns().map((column) => column.name), query.all()];
      });
      const copied = await bench.rows<Row>(`SELECT ${columns.join(', ')} FROM ${name}`);
      expect(comparable(copied), name).to.deep.equal(comparable(rows));
      if (name !== 'instances') expect(rows, name).not.to.be.empty;
    }
  });

  async function fillMore(ledger: Ledger): Promise<void> {
    const { administration, access } = ledger;
    await ledger.credits.grant({
      accountId: ann.account.id,
      amount: 7,
      paymentId: 'pay_1',
      expiresAt: '2026-05-01',
    });
    const bob = await customer(ledger, 'bob@example.com', 10);
    await ledger.holds.settle(await hold(ledger, bob, 2), settlement(1));
    await access.useLink((await access.createLink(bob.account.id)).token, BROWSER);
    await administration.suspend(bob.account.id);
    const carl = await customer(ledger, 'carl@example.com', 10);
    await ledger.holds.settle(await hold(ledger, carl, 2), settlement(2));
    await administration.delete(carl.account.id);
    const request = { accountId: ann.account.id, fingerprint: 'derived', retried: false };
    const { token } = await ledger.idempotency.beginDerived(request, []);
    await ledger.holds.settle(await hold(ledger, ann, 1), settlement(1, { idempotencyToken: token }));
    await ledger.idempotency.noteDelivery(token, false);
    const event = await ledger.webhooks.take({ leaseMs: 1000, mostPerAccount: 2 });
    await ledger.webhooks.failed(event!.lease, 'refused', 60_000);
    await ledger.keys.revoke(ann.account.id, ann.key.id);
  }

  it('have every table of the old ones, but those that SQLite makes for its index of words', () => {
    const tables = old.raw((database) =>
      database
        .prepare<[], string>(
          `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
             AND name NOT LIKE 'transcript_search_%' ORDER BY name`,
        )
        .pluck()
        .all(),
    );
    expect(COPIED_TABLES.map(({ name }) => name).sort()).to.deep.equal(tables);
  });

  it('are not copied from under a server, nor into a ledger that is not empty, nor when the ledger does not balance', async () => {
    const server = await old.server();
    const copy = (): Promise<unknown> => copyToPostgres(old.path, place.address);
    expect((await refusal(copy)).message).to.contain('A server runs on');
    await server.close();
    old.raw((database) => database.pragma('ignore_check_constraints = ON'));
    old.raw((database) => {
      database.pragma('ignore_check_constraints = ON');
      database.exec('UPDATE usage_days SET minutes = minutes + 1');
    });
    expect((await refusal(copy)).message).to.contain('does not balance');
    old.raw((database) => database.exec('UPDATE usage_days SET minutes = minutes - 1'));
    const present = await bench.cli();
    await present.accounts.create({ email: 'bob@example.com' });
    expect((await refusal(copy)).message).to.contain('not empty');
    expect(await present.accounts.list()).to.have.length(1);
  });

  it('are copied wholly or not at all', async () => {
    await bench.rows('ALTER TABLE dashboard_keys ADD CHECK (false)');
    expect((await refusal(() => copyToPostgres(old.path, place.address))).message).to.contain('dashboard_keys');
    const present = await bench.cli();
    expect(await present.accounts.list()).to.deep.equal([]);
  });
});

type Row = Record<string, unknown>;

/** In an order of their own, and without what the two databases call differently. */
function comparable(rows: readonly Row[]): string[] {
  const reported = (value: unknown): unknown => {
    if (Buffer.isBuffer(value)) return value.toString('hex');
    const plain = typeof value === 'boolean' ? Number(value) : value;
    return typeof plain === 'string' ? plain : JSON.stringify(plain);
  };
  return rows.map((row) => JSON.stringify(Object.entries(row).map(([name, value]) => [name, reported(value)]))).sort();
}
