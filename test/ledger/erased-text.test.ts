/** A text that was deleted is in none of SQLite's files: not in free pages, not in the index of words, not in the log. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { describeOnSqlite } from './backends.js';
import { customer, FileBench, hold, jobSettlement, settlement, type KeyHolder } from './support.js';
import { ROOM, transcript } from './transcript-support.js';

/** Nothing else has these letters, in whichever case. */
const SECRET = 'Xqzvkwjpfbm';

describeOnSqlite('ledger: the files of SQLite', () => {
  let bench: FileBench;
  let ledger: Ledger;
  let ann: KeyHolder;
  beforeEach(async () => {
    bench = new FileBench();
    ledger = await bench.server();
    ann = await customer(ledger, 'ann@example.com', 100);
  });
  afterEach(() => bench.dispose());

  /** How often a file has the word; the index has its words without what they share with the one before. */
  function traces(): number[] {
    return ['', '-wal'].map((suffix) => {
      const path = bench.path + suffix;
      if (!existsSync(path)) return 0;
      return readFileSync(path).toString('latin1').toLowerCase().split(SECRET.toLowerCase().slice(2)).length - 1;
    });
  }

  /** In every place that a text may be in, short and over many pages. */
  async function say(secret: string, size: number): Promise<string> {
    const { id: accountId } = ann.account;
    const long = Array.from({ length: size }, (_, n) => `${secret}${n} and on`).join(' ');
    const begun = await ledger.idempotency.begin({ accountId, key: `k${size}`, fingerprint: 'f' });
    if (begun.state !== 'new') throw new Error(begun.state);
    const transcriptionId = `tr_${size}`;
    const result = { text: long };
    const paid = settlement(1, { idempotencyToken: begun.token, result, transcriptionId });
    await ledger.holds.settle(await hold(ledger, ann, 1), paid);
    await ledger.jobs.create({
      ...{ id: `job_${size}`, accountId, keyId: ann.key.id, requestId: 'r', options: { prompt: secret } },
      ...{ audioSeconds: 60, credits: 1, webhook: null, mostOpen: 9, idempotency: null },
    });
    const { lease } = (await ledger.jobs.take({ leaseMs: 1000, mostPerAccount: 1 }))!;
    await ledger.jobs.succeed(lease, { ...jobSettlement(1), transcriptionId, result });
    const more = { id: transcriptionId, title: secret, speakers: [secret] };
    const content = { content: { text: long }, searchTexts: [long, secret] };
    await ledger.transcripts.keep(transcript(accountId, { ...more, ...content }), ROOM);
    const text = { ...content, translationLanguage: null };
    for (let version = 1; version < 4; version++) {
      const update = { version, change: { from: secret }, title: `${secret}${version}`, text };
      await ledger.transcripts.update(accountId, transcriptionId, update, ROOM);
    }
    return transcriptionId;
  }

  it('have nothing of a deleted transcript, its answer and its job', async () => {
    const kept: string[] = [];
    for (let n = 0; n < 20; n++) {
      const other = transcript(ann.account.id, { searchTexts: [`other words, number ${n}`, 'Xqa Xqzz'] });
      await ledger.transcripts.keep(other, ROOM);
      kept.push(other.id);
    }
    const ids = [await say(SECRET, 1), await say(SECRET, 3_000)];
    bench.raw((database) => database.pragma('wal_checkpoint(PASSIVE)'));
    expect(
      traces().every((found) => found > 0),
      'before',
    ).to.equal(true);
    for (const id of ids) await ledger.transcripts.delete(ann.account.id, id);
    await bench.runHousekeeping();
    expect(traces()).to.deep.equal([0, 0]);
    expect(await ledger.transcripts.knownAmong(kept)).to.have.length(20);
    bench.raw((database) => {
      database.exec(`INSERT INTO transcript_search_index (transcript_search_index) VALUES ('integrity-check')`);
      expect(database.pragma('integrity_check', { simple: true })).to.equal('ok');
    });
  });

  it('have nothing of an expired one, but in its answer and its job', async () => {
    const text = { title: SECRET, content: SECRET, searchTexts: [SECRET], keepDays: 1 };
    await ledger.transcripts.keep(transcript(ann.account.id, text), ROOM);
    bench.now += 86_400_000;
    await ledger.transcripts.deleteExpired(10);
    await bench.runHousekeeping();
    expect(traces()).to.deep.equal([0, 0]);
  });

  it('have nothing of a deleted account', async () => {
    await say(SECRET, 3_000);
    await ledger.administration.delete(ann.account.id);
    await bench.runHousekeeping();
    expect(traces()).to.deep.equal([0, 0]);
  });

  it('have nothing of one whose deletion a dead process left unfinished', async () => {
    const id = await say(SECRET, 300);
    // As the first step of it leaves it: the words are marked.
    const place = bench.raw((database) =>
      database.prepare<[string], number>('SELECT place FROM transcripts WHERE id = ?').pluck().get(id),
    );
    await ledger.transcripts.delete(ann.account.id, id);
    const words = Array.from({ length: 300 }, (_, n) => `${SECRET.toLowerCase()}${n}`).join(' ');
    bench.raw((database) => {
      database.prepare('INSERT INTO transcript_search (place, tokens, is_erased) VALUES (?, ?, 1)').run(place, words);
      database.prepare('INSERT INTO transcript_search_index (rowid, words) VALUES (?, ?)').run(place, words);
    });
    for (let n = 0; n < 4; n++) await bench.runHousekeeping();
    expect(traces()).to.deep.equal([0, 0]);
    expect(await bench.rows('SELECT 1 FROM transcript_search')).to.deep.equal([]);
  });

  it('have nothing of it once the command line is done', async () => {
    await say(SECRET, 10);
    const cli = await bench.cli();
    await cli.transcripts.delete(ann.account.id, 'tr_10');
    await cli.close();
    expect(traces()).to.deep.equal([0, 0]);
  });
});
