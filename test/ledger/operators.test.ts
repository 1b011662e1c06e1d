import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/types.js';
import { describeLedger } from './backends.js';
import { Bench, customer } from './support.js';

describeLedger('ledger: what operators did', (backend) => {
  let bench: Bench;
  let ledger: Ledger;
  let operatorId: string;

  beforeEach(async () => {
    bench = new Bench(backend);
    ledger = await bench.server();
    operatorId = (await customer(ledger, 'op@example.com')).account.id;
  });
  afterEach(() => bench.dispose());

  const list = (limit = 10, before: string | null = null) => ledger.operators.list({ limit, before });

  it('is told newest first, page by page, with who did it', async () => {
    for (const action of ['suspend', 'resume', 'grant']) {
      bench.now += 1000;
      await ledger.operators.note({ operatorId, action, subject: 'acc_1' });
    }
    const [first, second] = await list(2);
    expect(first).to.deep.include({ operatorId, email: 'op@example.com', action: 'grant', subject: 'acc_1' });
    expect(first?.at).to.equal(new Date(bench.now).toISOString());
    expect(second?.action).to.equal('resume');
    expect((await list(2, second?.id)).map(({ action }) => action)).to.deep.equal(['suspend']);
  });

  it('keeps 100 characters of what it was about', async () => {
    await ledger.operators.note({ operatorId, action: 'pull', subject: '\u{1f600}'.repeat(200) });
    expect((await list())[0]?.subject).to.equal('\u{1f600}'.repeat(100));
    await ledger.operators.note({ operatorId, action: 'audit', subject: null });
    expect((await list())[0]?.subject).to.equal(null);
  });

  it('stays when the operator is deleted, without an address', async () => {
    await ledger.operators.note({ operatorId, action: 'audit', subject: null });
    await ledger.administration.delete(operatorId);
    expect((await list())[0]).to.deep.include({ operatorId, email: null });
    expect(await ledger.audit()).to.deep.equal([]);
  });

  it('can be neither changed nor taken back', async () => {
    await ledger.operators.note({ operatorId, action: 'audit', subject: null });
    for (const sql of [
      "UPDATE operator_actions SET action = 'x' RETURNING id",
      'DELETE FROM operator_actions RETURNING id',
    ]) {
      let refused = '';
      await bench.rows(sql).catch((error: unknown) => (refused = String(error)));
      expect(refused, sql).to.contain('append-only');
    }
  });
});
