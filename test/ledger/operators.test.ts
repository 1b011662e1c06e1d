import { expect } from 'chai';
import type { Ledger } from '../../src/ledger/ledger.js';
import { recordAction } from '../../src/ledger/operators.js';
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

  it('is reported newest first, page by page, with who did it', async () => {
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

  async function expectRefused(sql: string): Promise<void> {
    let refused = '';
    await bench.rows(sql).catch((error: unknown) => (refused = String(error)));
    expect(refused, sql).to.contain('append-only');
  }

  it('can be neither changed nor taken back', async () => {
    await ledger.operators.note({ operatorId, action: 'audit', subject: null });
    for (const sql of [
      "UPDATE operator_actions SET action = 'x' RETURNING id",
      'DELETE FROM operator_actions RETURNING id',
    ]) {
      await expectRefused(sql);
    }
  });

  it('says how much, about whom, and how it ended', async () => {
    const { id } = (await customer(ledger, 'ann@example.com')).account;
    const action = { operatorId, action: 'granted', subject: id, detail: '500' };
    const entry = await ledger.operators.note(action);
    expect((await list())[0]).to.deep.include({ ...action, subjectEmail: 'ann@example.com', outcome: null });
    await ledger.operators.conclude(entry, { outcome: 'refused' });
    await ledger.operators.conclude(entry, { outcome: 'done', subject: 'another' });
    expect((await list())[0]).to.deep.include({ ...action, outcome: 'refused' });
    for (const change of ["outcome = 'done'", "subject = 'x'", 'outcome = NULL', "detail = '1'"]) {
      await expectRefused(`UPDATE operator_actions SET ${change} RETURNING id`);
    }
  });

  it('changes nothing but the outcome even while that is open', async () => {
    await ledger.operators.note({ operatorId, action: 'granted', subject: 'acc_1', detail: '5' });
    for (const change of ["outcome = 'done', detail = '6'", "outcome = 'done', subject = 'acc_2'", "detail = '6'"]) {
      await expectRefused(`UPDATE operator_actions SET ${change} RETURNING id`);
    }
  });

  it('knows the command line, what was made, and what threw', async () => {
    const action = { operatorId: null, action: 'account-made', subject: null };
    const make = async () => (await customer(ledger, 'ann@example.com')).account.id;
    const made = await recordAction(ledger.operators, action, make, (id) => ({ outcome: 'done', subject: id }));
    const again = await recordAction(ledger.operators, action, make).catch((error: unknown) => String(error));
    expect(again).to.contain('already an account');
    const shown = (await list()).map(({ outcome, subject, subjectEmail, email }) => [
      ...[outcome, subject, subjectEmail, email],
    ]);
    expect(shown).to.deep.equal([
      ['refused', null, null, null],
      ['done', made, 'ann@example.com', null],
    ]);
    await ledger.administration.delete(made);
    expect((await list())[1]).to.include({ subject: made, subjectEmail: null });
    expect(await ledger.audit()).to.deep.equal([]);
  });
});
