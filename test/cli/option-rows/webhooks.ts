/** The options of `webhooks`. */
import { expect } from 'chai';
import { join } from 'node:path';
import { createLedger } from '../../../src/ledger/sqlite/ledger.js';
import { inWorkplace, type OptionRows, type Workplace } from './rows.js';
import { type Row } from './account-places.js';

/** Two jobs that are to report their end, and have; each end is an event. */
function withEvents(work: (place: Workplace, ids: string[]) => Promise<void>): () => Promise<void> {
  return () =>
    inWorkplace(async (place) => {
      const ledger = createLedger({ path: join(place.directory, 'data', 'verbatim.db') });
      const { id: accountId } = await ledger.accounts.create({ email: 'ada@example.org' });
      const { id: keyId } = await ledger.keys.create({ accountId, name: 'test', scopes: [] });
      for (const id of ['job_1', 'job_2']) {
        await ledger.jobs.create({
          ...{ id, accountId, keyId, requestId: 'req', options: {}, audioSeconds: 3, credits: 0 },
          webhook: { url: `https://example.org/${id}`, secret: 'whsec_AAAA' },
          ...{ mostOpen: 2, idempotency: null },
        });
        await ledger.jobs.end(accountId, id, 'cancel');
      }
      const taken = await ledger.webhooks.take({ leaseMs: 1000, mostPerAccount: 1 });
      await ledger.webhooks.delivered(taken!.lease);
      const events = await ledger.webhooks.list({ state: null, limit: 2 });
      await ledger.close();
      await work(
        place,
        events.map(({ id }) => id),
      );
    });
}

const events = (place: Workplace, ...words: string[]): Promise<Row[]> =>
  place.json<Row[]>(['webhooks', 'list', ...words, '--json']);

export const webhookRows: OptionRows = {
  'webhooks list --state': withEvents(async (place) => {
    expect(await events(place)).to.have.length(2);
    expect((await events(place, '--state', 'delivered')).map((row) => row['job'])).to.have.length(1);
    expect(await place.refusal(['webhooks', 'list', '--state', 'lost'])).to.contain('pending, delivered, failed');
  }),
  'webhooks list --limit': withEvents(async (place) => {
    expect(await events(place, '--limit', '1')).to.have.length(1);
    expect(await place.refusal(['webhooks', 'list', '--limit', '0'])).to.contain('an integer from 1 to 1000');
  }),
  'webhooks list --json': withEvents(async (place, ids) => {
    const rows = await events(place);
    expect(rows.map((row) => row['id'])).to.deep.equal(ids);
    for (const row of rows) expect(row['attempts']).to.be.a('number');
    expect(await place.printed(['webhooks', 'list'])).to.match(/^id +job +state +url +created_at/);
  }),
  'webhooks retry --json': withEvents(async (place, ids) => {
    const [delivered] = await events(place, '--state', 'delivered');
    const id = String(delivered?.['id']);
    expect(ids).to.include(id);
    expect(await place.json(['webhooks', 'retry', id, '--json'])).to.include({ id, state: 'pending' });
    expect(await events(place, '--state', 'pending')).to.have.length(2);
    expect(await place.printed(['webhooks', 'retry', id])).to.equal(`${id} will be sent now\n`);
    const { status, stderr } = await place.run(['webhooks', 'retry', 'msg_none']);
    expect([status, stderr]).to.deep.equal([1, 'verbatim: There is no event "msg_none".\n']);
  }),
};
