import { expect } from 'chai';
import { addHistory, endOfToday } from '../../bench/load/history.js';
import { timeCalls, timeEventSums } from '../../bench/load/ledger-calls.js';
import { FileBench } from '../ledger/support.js';

const DAY_MS = 86_400_000;

describe('Usage that an account did not have', () => {
  let books: FileBench;
  beforeEach(() => (books = new FileBench()));
  afterEach(() => books.dispose());

  it('is in the books as if it had been: the audit holds, credits are spent, and /usage has it day by day', async () => {
    const ledger = await books.server();
    const other = await ledger.createAccount({ email: 'other@example.com' });
    await ledger.grantCredits({ accountId: other.id, amount: 5 });
    const { id: accountId } = await ledger.createAccount({ email: 'busy@example.com' });
    await ledger.grantCredits({ accountId, amount: 100 });
    const { id: keyId, rawKey } = await ledger.createKey({ accountId, name: 'bench', scopes: [] });
    const owner = { path: books.path, accountId, keyId };
    const newest = endOfToday(books.now);
    addHistory(owner, { rows: 20, rowsPerDay: 10, newest });
    addHistory(owner, { rows: 10, rowsPerDay: 10, newest: newest - 2 * DAY_MS });
    expect(await ledger.audit()).to.deep.equal([]);
    expect((await ledger.balance(accountId)).balance).to.equal(70);
    expect((await ledger.balance(other.id)).balance).to.equal(5);
    const { byDay, totalMinutes } = await ledger.usage(accountId, 4);
    expect(byDay.map(({ minutes }) => minutes)).to.deep.equal([0, 10, 10, 10]);
    expect(totalMinutes).to.equal(30);

    const calls = await timeCalls(ledger, { ...owner, rawKey }, 2);
    const sums = await timeEventSums(owner, 2);
    for (const [call, { median, p99 }] of Object.entries({ ...calls, ...sums }))
      expect(p99, call).to.be.at.least(median);
    expect((await ledger.balance(accountId)).balance, 'the calls that charge').to.equal(70 - 22);
    expect(await ledger.audit()).to.deep.equal([]);
  });
});
