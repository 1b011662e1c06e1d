/** All that is stored on an account, as its owner gets it. */
import { expect } from 'chai';
import { exportOf } from '../../src/ledger/account-export.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { describeLedger } from './backends.js';
import { type Bench, customer, ENDPOINT, hold, settlement, useLedger, type KeyHolder } from './support.js';
import { grow } from './full-account.js';

async function whole(ledger: Ledger, accountId: string, at: number): Promise<Record<string, unknown>> {
  let text = '';
  for await (const piece of exportOf(ledger, accountId, new Date(at))) text += piece;
  return JSON.parse(text) as Record<string, unknown>;
}

describeLedger('ledger: the export of an account', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let ann: KeyHolder;
  useLedger(100, (fixture) => ({ bench, ledger, ann } = fixture), backend);

  it('has all that is stored on the account, and nothing that opens anything', async () => {
    const { id } = ann.account;
    const grown = await grow(ledger, ann);
    const bob = await customer(ledger, 'bob@example.com', 5);
    await grow(ledger, { ...bob, account: bob.account }).catch(() => undefined); // job ids are taken
    const reported = await whole(ledger, id, bench.now);
    expect(reported).to.have.all.keys(
      ...['exported_at', 'account', 'keys', 'packs', 'sessions', 'running', 'usage', 'jobs'],
      ...['webhook_events', 'answers', 'library', 'transcripts'],
    );
    const now = '2026-01-15T12:00:00.000Z';
    expect(reported['exported_at']).to.equal(now);
    expect(reported['account']).to.deep.equal({
      ...{ id, email: 'ann@example.com', name: null, role: 'user', created_at: now, suspended_at: null },
      ...{ password_set_at: now, sign_in_link_expires_at: '2026-01-16T12:00:00.000Z' },
    });
    expect(reported).to.have.nested.property('keys.length', 2);
    expect(reported).to.have.nested.property('packs[0].purchased', 100);
    expect(reported).to.have.nested.property('sessions[0].address', '192.0.2.7');
    expect(reported['running']).to.deep.equal([
      { request_id: "job_2's request", file_name: 'interview.wav', credits: 2, at: now },
    ]);
    expect(reported['usage']).to.deep.equal([
      {
        ...{ request_id: 'req_1', key_id: ann.key.id, transcription_id: 'tr_1', endpoint: ENDPOINT },
        file_name: 'interview.wav',
        ...{ audio_seconds: 180, minutes: 3, language: 'en', model: 'base', credits: 3, at: now },
      },
    ]);
    expect(reported['jobs']).to.have.length(2);
    expect(reported).to.have.nested.property('jobs[0].options.prompt', 'Ann Smith');
    expect(reported).to.have.nested.property('jobs[0].file_name', 'interview.wav');
    expect(reported).to.have.nested.property('jobs[0].webhook_url', 'https://example.com/hook');
    expect(reported).to.have.nested.property('webhook_events[0].job_id', 'job_1');
    expect(reported).to.have.nested.property('answers[0].idempotency_key', 'order 7');
    expect(reported).to.have.nested.property('answers[0].answer.text', 'a secret said aloud');
    expect(reported).to.have.nested.property('transcripts[0].content.text', 'spoken aloud');
    expect(reported).to.have.nested.property('transcripts[0].original.text', 'a secret said aloud');
    const text = JSON.stringify(reported);
    for (const secret of [grown.session, grown.link, grown.token, grown.share, ann.key.rawKey, 'whsec_', 'bob']) {
      expect(text).not.to.contain(secret);
    }
  });

  it('is read in pages', async () => {
    const { id: accountId } = ann.account;
    for (let n = 0; n < 205; n += 1) {
      const begun = await ledger.idempotency.begin({ accountId, key: `k${n}`, fingerprint: 'f' });
      const idempotencyToken = begun.state === 'new' ? begun.token : '';
      await ledger.holds.settle(await hold(ledger, ann, 0), settlement(0, { idempotencyToken, requestId: `req_${n}` }));
    }
    const reported = (await whole(ledger, accountId, bench.now)) as Record<string, Record<string, string>[]>;
    expect(new Set(reported['usage']!.map((row) => row['request_id'])).size).to.equal(205);
    expect(new Set(reported['answers']!.map((row) => row['idempotency_key'])).size).to.equal(205);
    expect([reported['usage']!.length, reported['answers']!.length]).to.deep.equal([205, 205]);
  });
});
