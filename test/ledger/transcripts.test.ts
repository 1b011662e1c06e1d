/** Kept transcripts in the ledger: stored, listed, changed, bounded, expired, deleted. */
import { expect } from 'chai';
import { exportOf } from '../../src/ledger/account-export.js';
import { JsonText } from '../../src/ledger/json.js';
import { DAY_MS } from '../../src/ledger/time.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { NewTranscript, StoredTranscript, TranscriptUpdate } from '../../src/ledger/transcripts.js';
import { describeLedger } from './backends.js';
import { codeOf, customer, hold, jobSettlement, settlement, useLedger, type Bench, type KeyHolder } from './support.js';
import { listTranscripts, ROOM, transcript } from './transcript-support.js';

describeLedger('ledger: kept transcripts', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  let accountId: string;
  useLedger(
    100,
    (fixture) => {
      ({ bench, ledger, ann } = fixture);
      accountId = ann.account.id;
    },
    backend,
  );

  async function keep(more: Partial<NewTranscript> = {}): Promise<string> {
    const kept = transcript(accountId, more);
    expect(await ledger.transcripts.keep(kept, ROOM)).to.equal('kept');
    return kept.id;
  }
  const find = async (id: string): Promise<StoredTranscript> => (await ledger.transcripts.find(accountId, id))!;
  const content = async (id: string, which?: 'original'): Promise<unknown> =>
    JSON.parse((await ledger.transcripts.content(accountId, id, which))!.content.text);
  const ids = async (query = {}): Promise<string[]> =>
    (await listTranscripts(ledger.transcripts, accountId, query)).map((hit) => hit.transcript.id);
  /** What is stored of transcripts, in all tables. */
  const rows = async (): Promise<number[]> =>
    Promise.all(
      ['transcripts', 'transcript_search', 'transcript_changes', 'transcript_shares'].map(
        async (table) => (await bench.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n,
      ),
    );

  it('are settings of an account, which nobody has decided at first', async () => {
    const { transcripts } = ledger;
    const undecided = { isOn: false, keepDays: 30, keepsAudio: false, decidedAt: null };
    expect(await transcripts.settings(accountId)).to.deep.equal(undecided);
    const decided = { isOn: true, keepDays: null, keepsAudio: true };
    const decidedAt = '2026-01-15T12:00:00.000Z';
    expect(await transcripts.decide(accountId, decided)).to.deep.equal({ ...decided, decidedAt });
    await keep();
    expect(await transcripts.settings(accountId)).to.deep.equal({ ...decided, decidedAt });
    for (const keepDays of [0, -1, 1.5, 3651, NaN])
      expect(await codeOf(() => transcripts.decide(accountId, { ...decided, keepDays }))).to.equal('invalid_request');
    expect(await codeOf(() => transcripts.decide('acc_none', decided))).to.equal('account_not_found');
    const bob = await customer(ledger, 'bob@example.com');
    expect(await transcripts.settings(bob.account.id)).to.deep.equal(undecided);
  });

  it('are found as they were kept', async () => {
    const source = { kind: 'page', name: null } as const;
    const speakers = ['Ada', 'Bo "B"', 'S3'];
    const text = { segments: [{ text: 'Ünïcode \ud83d\ude00 "quoted"' }] };
    const more = { title: 'Ä day.mp3', translationLanguage: 'de', audioBytes: 12, keepDays: 2, model: null };
    const id = await keep({ ...more, source, speakers, content: text });
    const { place, contentBytes, ...rest } = await find(id);
    expect(rest).to.deep.equal({
      ...{ id, accountId, version: 1, title: 'Ä day.mp3', createdAt: '2026-01-15T12:00:00.000Z' },
      ...{ expiresAt: '2026-01-17T12:00:00.000Z', durationSeconds: 61.5, language: 'en', model: null },
      ...{ translationLanguage: 'de', speakers, source, audioBytes: 12 },
    });
    expect(contentBytes).to.equal(Buffer.byteLength('Ä day.mp3') + Buffer.byteLength(JSON.stringify(text)));
    expect(place).to.match(/^\d+$/);
    expect(await content(id)).to.deep.equal(text);
    const written = await keep({ content: new JsonText('{"a": 1}') });
    expect((await ledger.transcripts.content(accountId, written))?.content.text).to.equal('{"a": 1}');
  });

  it('are kept once', async () => {
    const kept = transcript(accountId, { audioBytes: 5 });
    for (const title of ['first', 'second']) await ledger.transcripts.keep({ ...kept, title }, ROOM);
    expect((await find(kept.id)).title).to.equal('first');
    expect((await ledger.transcripts.usage(accountId)).transcripts).to.equal(1);
  });

  it("are their own account's only", async () => {
    const id = await keep({ searchTexts: ['hello'] });
    const bob = (await customer(ledger, 'bob@example.com')).account.id;
    const { transcripts } = ledger;
    const update = { version: 1, change: {}, title: 'mine' };
    expect(await transcripts.find(bob, id)).to.equal(null);
    expect(await transcripts.content(bob, id)).to.equal(null);
    expect(await listTranscripts(transcripts, bob)).to.deep.equal([]);
    expect(await listTranscripts(transcripts, bob, { words: 'hello' })).to.deep.equal([]);
    expect(await transcripts.update(bob, id, update, ROOM)).to.equal(null);
    await transcripts.update(accountId, id, update, ROOM);
    expect(await transcripts.changes(bob, id, { limit: 9, before: null })).to.deep.equal([]);
    expect(await transcripts.delete(bob, id)).to.equal(null);
    const share = { expiresAt: '2026-02-01', includesAudio: false };
    expect(await transcripts.createShare(bob, id, share)).to.equal(null);
    const made = await transcripts.createShare(accountId, id, share);
    expect(await transcripts.shares(bob, id)).to.deep.equal([]);
    expect(await transcripts.revokeShare(bob, id, made!.share.id)).to.equal(false);
    expect((await find(id)).title).to.equal('mine');
    expect(await codeOf(() => transcripts.keep(transcript('acc_none'), ROOM))).to.equal('account_not_found');
  });

  it('are listed newest first, in pages, and by time', async () => {
    const made: string[] = [];
    for (let n = 0; n < 7; n++) {
      if (n % 3 === 0) bench.now += DAY_MS;
      made.unshift(await keep());
    }
    expect(await ids()).to.deep.equal(made);
    const paged: string[] = [];
    for (let after: string | null = null; ;) {
      const page = await listTranscripts(ledger.transcripts, accountId, { limit: 3, after });
      paged.push(...page.map((hit) => hit.transcript.id));
      if (page.length < 3) break;
      after = page.at(-1)!.transcript.place;
    }
    expect(paged).to.deep.equal(made);
    expect(await ids({ from: '2026-01-18' })).to.deep.equal(made.slice(0, 1));
    expect(await ids({ to: '2026-01-17T12:00:00Z' })).to.deep.equal(made.slice(4));
    expect(await ids({ from: '2026-01-17T12:00:00Z', to: '2026-01-17T12:00:00.001Z' })).to.deep.equal(made.slice(1, 4));
    for (const bad of [{ from: 'yesterday' }, { to: '2026-02-30' }, { to: '9999-01-01' }, { after: '1; DROP' }])
      expect(await codeOf(() => ids(bad))).to.equal('invalid_request');
  });

  it('are changed one after the other, and who changed what is kept with the original', async () => {
    const id = await keep({ content: { text: 'helo' }, searchTexts: ['helo'], speakers: ['S1', 'S2'] });
    const { transcripts } = ledger;
    bench.now += 1000;
    const renamed = await transcripts.update(
      accountId,
      id,
      { version: 1, change: { speaker: 'Ada' }, speakers: ['Ada', 'S2'] },
      ROOM,
    );
    expect(renamed).to.deep.include({ version: 2, speakers: ['Ada', 'S2'], title: 'meeting.wav' });
    expect(await content(id)).to.deep.equal({ text: 'helo' });
    const text = { content: { text: 'hello' }, searchTexts: ['hello'], translationLanguage: 'fr' };
    const update: TranscriptUpdate = { version: 2, change: { text: 'hello' }, title: 'New', text };
    expect(await transcripts.update(accountId, id, update, ROOM)).to.deep.include({
      ...{ version: 3, title: 'New', translationLanguage: 'fr', speakers: ['Ada', 'S2'] },
    });
    expect(await transcripts.update(accountId, id, update, ROOM)).to.equal('conflict');
    const again = { ...update, version: 3, text: { ...text, content: { text: 'hello!' }, translationLanguage: null } };
    await transcripts.update(accountId, id, again, ROOM);
    expect(await content(id)).to.deep.equal({ text: 'hello!' });
    expect(await content(id, 'original')).to.deep.equal({ text: 'helo' });
    expect(await transcripts.content(accountId, id, 'original')).to.include({ version: 1 });
    expect((await find(id)).translationLanguage).to.equal(null);
    const page = (limit: number, before: number | null) => transcripts.changes(accountId, id, { limit, before });
    expect(await page(2, null)).to.deep.equal([
      { version: 4, at: '2026-01-15T12:00:01.000Z', change: { text: 'hello' } },
      { version: 3, at: '2026-01-15T12:00:01.000Z', change: { text: 'hello' } },
    ]);
    expect(await page(2, 3)).to.deep.equal([
      { version: 2, at: '2026-01-15T12:00:01.000Z', change: { speaker: 'Ada' } },
    ]);
  });

  it('are bounded by bytes of text and audio, changes included', async () => {
    const { transcripts } = ledger;
    const text = JSON.stringify({ segments: [] });
    const one = 'meeting.wav'.length + text.length + 100;
    const first = transcript(accountId, { audioBytes: 100 });
    expect(await transcripts.keep(first, one - 1)).to.equal('full');
    expect(await transcripts.usage(accountId)).to.deep.equal({ transcripts: 0, bytes: 0 });
    expect(await transcripts.keep(first, one)).to.equal('kept');
    expect(await transcripts.usage(accountId)).to.deep.equal({ transcripts: 1, bytes: one });
    expect(await transcripts.keep(transcript(accountId), one)).to.equal('full');
    const longer = { content: { segments: ['more'] }, searchTexts: ['more'], translationLanguage: null };
    const update: TranscriptUpdate = { version: 1, change: 'c', text: longer };
    const more = JSON.stringify('c').length + JSON.stringify(longer.content).length;
    expect(await transcripts.update(accountId, first.id, update, one + more - 1)).to.equal('full');
    expect(await ids({ words: 'more' })).to.deep.equal([]);
    expect((await find(first.id)).version).to.equal(1);
    await transcripts.update(accountId, first.id, update, one + more);
    expect(await transcripts.usage(accountId)).to.deep.equal({ transcripts: 1, bytes: one + more });
    // The first correction is replaced by the second, and the original stays.
    const shorter = { ...update, version: 2, change: '', text: { ...longer, content: 1 } };
    await transcripts.update(accountId, first.id, shorter, 0);
    const left = one + JSON.stringify('c').length + JSON.stringify('').length + 1;
    expect(await transcripts.usage(accountId)).to.deep.equal({ transcripts: 1, bytes: left });
    expect((await find(first.id)).contentBytes).to.equal(left - 100);
    await transcripts.delete(accountId, first.id);
    expect(await transcripts.usage(accountId)).to.deep.equal({ transcripts: 0, bytes: 0 });
  });

  it('are gone when they have expired, and deleted some at a time', async () => {
    const days = [3, 1, 2, null];
    const made: string[] = [];
    for (const keepDays of days) made.push(await keep({ keepDays, searchTexts: ['hello'] }));
    const [third, first, second, forever] = made;
    const share = (await ledger.transcripts.createShare(accountId, third!, {
      ...{ expiresAt: '2027-01-01', includesAudio: true },
    }))!;
    bench.now += 2 * DAY_MS;
    for (const query of [{}, { words: 'hello' }]) expect(await ids(query)).to.deep.equal([forever, third]);
    expect(await ledger.transcripts.find(accountId, second!)).to.equal(null);
    expect(await ledger.transcripts.content(accountId, second!)).to.equal(null);
    bench.now += DAY_MS;
    expect(await ledger.transcripts.findShared(share.token)).to.equal(null);
    expect(await ledger.transcripts.update(accountId, third!, { version: 1, change: {} }, ROOM)).to.equal(null);
    expect(await ledger.transcripts.deleteExpired(2)).to.have.deep.members([
      { id: first, accountId },
      { id: second, accountId },
    ]);
    expect(await ledger.transcripts.deleteExpired(2)).to.deep.equal([{ id: third, accountId }]);
    expect(await ledger.transcripts.deleteExpired(2)).to.deep.equal([]);
    expect(await rows()).to.deep.equal([1, 1, 0, 0]);
    expect((await ledger.transcripts.usage(accountId)).transcripts).to.equal(1);
    expect(await ledger.transcripts.knownAmong([...made, 'tr_none'])).to.deep.equal([forever]);
  });

  it('are deleted with changes, words and links', async () => {
    const { transcripts } = ledger;
    const [id, other] = [await keep({ searchTexts: ['hello'] }), await keep({ searchTexts: ['hello'] })];
    await transcripts.update(accountId, id, { version: 1, change: {}, title: 'b' }, ROOM);
    const share = await transcripts.createShare(accountId, id, { expiresAt: '2026-02-01', includesAudio: false });
    expect(await transcripts.delete(accountId, id)).to.deep.equal({ id, deletedAt: '2026-01-15T12:00:00.000Z' });
    expect(await transcripts.delete(accountId, id)).to.equal(null);
    expect(await transcripts.findShared(share!.token)).to.equal(null);
    expect(await ids({ words: 'hello' })).to.deep.equal([other]);
    expect(await rows()).to.deep.equal([1, 1, 0, 0]);
  });

  it('take the answer to their request along, and a repeat of it is a conflict', async () => {
    const asked = { accountId, key: 'order 7', fingerprint: 'f' };
    const begun = await ledger.idempotency.begin(asked);
    if (begun.state !== 'new') throw new Error(begun.state);
    const unkeyed = { accountId, fingerprint: 'g', retried: false };
    const derived = await ledger.idempotency.beginDerived(unkeyed, []);
    for (const [token, transcriptionId] of [
      [begun.token, 'tr_a'],
      [derived.token, 'tr_b'],
    ] as const) {
      const result = { text: 'said aloud' };
      const paid = settlement(1, { idempotencyToken: token, transcriptionId, result });
      await ledger.holds.settle(await hold(ledger, ann, 1), paid);
      await keep({ id: transcriptionId });
    }
    const bob = (await customer(ledger, 'bob@example.com')).account.id;
    await ledger.transcripts.keep(transcript(bob, { id: 'tr_c' }), ROOM);
    await ledger.transcripts.delete(bob, 'tr_c');
    expect((await ledger.idempotency.begin(asked)).state).to.equal('replay');
    await ledger.transcripts.delete(accountId, 'tr_a');
    expect(await ledger.idempotency.begin(asked)).to.deep.equal({ state: 'conflict', reason: 'deleted' });
    expect(await ledger.idempotency.has(accountId, 'order 7')).to.equal(true);
    const different = { ...asked, fingerprint: 'h' };
    expect(await ledger.idempotency.begin(different)).to.include({ reason: 'different_request' });
    expect((await ledger.idempotency.beginDerived(unkeyed, [])).state).to.equal('replay');
    await ledger.transcripts.delete(accountId, 'tr_b');
    expect((await ledger.idempotency.beginDerived(unkeyed, [])).state).to.equal('new');
    expect(JSON.stringify(await bench.rows('SELECT * FROM idempotency_records'))).not.to.contain('aloud');
    // A day later the key is free again.
    bench.now += DAY_MS;
    const next = await ledger.idempotency.begin(asked);
    if (next.state !== 'new') throw new Error(next.state);
    await ledger.holds.settle(await hold(ledger, ann, 1), settlement(1, { idempotencyToken: next.token }));
    expect((await ledger.idempotency.begin(asked)).state).to.equal('replay');
  });

  it('take the job that made them along', async () => {
    const asked = { accountId, key: 'k', fingerprint: 'f' };
    const begun = await ledger.idempotency.begin(asked);
    if (begun.state !== 'new') throw new Error(begun.state);
    await ledger.jobs.create({
      ...{ id: 'job_1', accountId, keyId: ann.key.id, requestId: 'req_1', options: {}, audioSeconds: 60, credits: 1 },
      ...{ webhook: { url: 'https://example.com/', secret: 'whsec_AAAA' }, mostOpen: 9 },
      idempotency: { token: begun.token, ticket: { id: 'job_1' } },
    });
    const { lease } = (await ledger.jobs.take({ leaseMs: 1000, mostPerAccount: 1 }))!;
    await ledger.jobs.succeed(lease, { ...jobSettlement(1), transcriptionId: 'tr_job' });
    const id = await keep({ id: 'tr_job', source: { kind: 'job', name: null } });
    const other = await keep();
    await ledger.transcripts.delete(accountId, other);
    expect(await ledger.jobs.find(accountId, 'job_1')).not.to.equal(null);
    await ledger.transcripts.delete(accountId, id);
    expect(await ledger.jobs.find(accountId, 'job_1')).to.equal(null);
    expect(await ledger.webhooks.list({ state: null, limit: 9 })).to.deep.equal([]);
    expect(await ledger.idempotency.begin(asked)).to.deep.equal({ state: 'conflict', reason: 'deleted' });
    expect((await ledger.history.charged(accountId, { limit: 9, before: null }))[0]).to.include({ credits: 1 });
  });

  it('are deleted with their account, in steps, and none is kept afterwards', async () => {
    const bob = (await customer(ledger, 'bob@example.com')).account.id;
    await ledger.transcripts.keep(transcript(bob), ROOM);
    for (let n = 0; n < 120; n++) await keep({ searchTexts: ['hello'] });
    const late = transcript(accountId);
    await ledger.administration.delete(accountId);
    expect(await rows()).to.deep.equal([1, 1, 0, 0]);
    expect(await bench.rows('SELECT account_id FROM libraries')).to.deep.equal([{ account_id: bob }]);
    expect(await codeOf(() => ledger.transcripts.keep(late, ROOM))).to.equal('account_not_found');
  });

  it('are in the export of their account, with original and changes', async () => {
    const id = await keep({ content: { text: 'helo' }, audioBytes: 7 });
    const text = { content: { text: 'hello' }, searchTexts: [], translationLanguage: null };
    await ledger.transcripts.update(accountId, id, { version: 1, change: { by: 'Ann' }, text }, ROOM);
    const share = await ledger.transcripts.createShare(accountId, id, { expiresAt: '2026-02-01', includesAudio: true });
    await ledger.transcripts.decide(accountId, { isOn: true, keepDays: 7, keepsAudio: false });
    for (let n = 0; n < 101; n++) await keep();
    let written = '';
    for await (const piece of exportOf(ledger, accountId, new Date(bench.now))) written += piece;
    expect(written).not.to.contain(share!.token);
    const { library, transcripts } = JSON.parse(written) as Record<string, Record<string, unknown>[]>;
    const now = '2026-01-15T12:00:00.000Z';
    expect(library).to.deep.equal([{ is_on: true, keep_days: 7, keeps_audio: false, decided_at: now }]);
    expect(transcripts).to.have.length(102);
    const { content_bytes: bytes, ...exported } = transcripts!.at(-1)!;
    expect(bytes).to.be.a('number');
    expect(exported).to.deep.equal({
      ...{ id, title: 'meeting.wav', version: 2, created_at: now, expires_at: null, duration_seconds: 61.5 },
      ...{ language: 'en', translation_language: null, speakers: ['S1'], model: 'base', audio_bytes: 7 },
      ...{ source: { kind: 'api', name: 'my key' }, content: { text: 'hello' }, original: { text: 'helo' } },
      changes: [{ version: 2, at: now, change: { by: 'Ann' } }],
      shares: [{ id: share!.share.id, created_at: now, expires_at: '2026-02-01T00:00:00.000Z', includes_audio: true }],
    });
  });
});
