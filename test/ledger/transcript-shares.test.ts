/** Links to kept transcripts. */
import { expect } from 'chai';
import { DAY_MS } from '../../src/ledger/time.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { MOST_SHARES } from '../../src/ledger/transcripts.js';
import { describeLedger } from './backends.js';
import { codeOf, useLedger, type Bench } from './support.js';
import { ROOM, transcript } from './transcript-support.js';

describeLedger('ledger: links to kept transcripts', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let accountId: string;
  useLedger(
    0,
    (fixture) => ({ bench, ledger, accountId } = { ...fixture, accountId: fixture.ann.account.id }),
    backend,
  );

  async function keep(): Promise<string> {
    const kept = transcript(accountId);
    await ledger.transcripts.keep(kept, ROOM);
    return kept.id;
  }
  const create = (id: string, expiresAt = '2026-02-01', includesAudio = false) =>
    ledger.transcripts.createShare(accountId, id, { expiresAt, includesAudio });

  it('show it to whoever has the token, until they expire', async () => {
    const id = await keep();
    const { share, token } = (await create(id, '2026-01-16T12:00:00+01:00', true))!;
    const { id: shareId, ...rest } = share;
    expect(rest).to.deep.equal({
      ...{ transcriptId: id, createdAt: '2026-01-15T12:00:00.000Z', expiresAt: '2026-01-16T11:00:00.000Z' },
      includesAudio: true,
    });
    expect(shareId).to.match(/^share_/);
    const transcript = (await ledger.transcripts.find(accountId, id))!;
    expect(await ledger.transcripts.findShared(token)).to.deep.equal({ share, transcript });
    expect(await ledger.transcripts.findShared(`${token}x`)).to.equal(null);
    expect(await ledger.transcripts.findShared(shareId)).to.equal(null);
    expect(JSON.stringify(await bench.rows('SELECT * FROM transcript_shares'))).not.to.contain(token);
    bench.now = Date.parse('2026-01-16T11:00:00.000Z');
    expect(await ledger.transcripts.findShared(token)).to.equal(null);
    expect(await ledger.transcripts.shares(accountId, id)).to.deep.equal([]);
  });

  it('are revoked one by one', async () => {
    const [id, other] = [await keep(), await keep()];
    const first = (await create(id))!;
    bench.now += 1;
    const second = (await create(id))!;
    expect(await ledger.transcripts.shares(accountId, id)).to.deep.equal([second.share, first.share]);
    expect(await ledger.transcripts.revokeShare(accountId, other, first.share.id)).to.equal(false);
    expect(await ledger.transcripts.revokeShare(accountId, id, first.share.id)).to.equal(true);
    expect(await ledger.transcripts.revokeShare(accountId, id, first.share.id)).to.equal(false);
    expect(await ledger.transcripts.findShared(first.token)).to.equal(null);
    expect((await ledger.transcripts.findShared(second.token))?.share).to.deep.equal(second.share);
    expect(await ledger.transcripts.shares(accountId, id)).to.deep.equal([second.share]);
  });

  it('show nothing of an account that is suspended or deleted', async () => {
    const { token } = (await create(await keep()))!;
    await ledger.administration.suspend(accountId);
    expect(await ledger.transcripts.findShared(token)).to.equal(null);
    await ledger.administration.resume(accountId);
    expect(await ledger.transcripts.findShared(token)).not.to.equal(null);
    await ledger.administration.delete(accountId);
    expect(await ledger.transcripts.findShared(token)).to.equal(null);
  });

  it('are made for a time to come, and not without number', async () => {
    const id = await keep();
    for (const bad of ['2026-01-15T12:00:00Z', '2026-01-01', 'tomorrow', ''])
      expect(await codeOf(() => create(id, bad)), bad).to.equal('invalid_request');
    expect(await create('tr_none')).to.equal(null);
    for (let n = 0; n < MOST_SHARES; n++) await create(id, '2026-01-16');
    expect(await codeOf(() => create(id))).to.equal('invalid_request');
    expect(await create(await keep())).not.to.equal(null);
    bench.now += DAY_MS;
    expect(await create(id)).not.to.equal(null);
  });
});
