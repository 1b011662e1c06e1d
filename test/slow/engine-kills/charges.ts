import { Database } from '../../../src/ledger/sqlite/driver.js';
import { expect } from 'chai';
import { openLedger } from '../../../src/ledger/sqlite/ledger.js';

const CREDITS = 1_000_000;
export const KILLED_SECRET = 'a secret for the axe';

export async function openKilledAccount(path: string): Promise<string> {
  const ledger = openLedger({ path, secret: KILLED_SECRET });
  const { id: accountId } = await ledger.accounts.create({ email: 'account@example.com' });
  await ledger.credits.grant({ accountId, amount: CREDITS });
  const { rawKey } = await ledger.keys.create({ accountId, name: 'client', scopes: [] });
  await ledger.close();
  return rawKey;
}

/** One credit for each of these, and for so many others; nothing is held. */
export async function checkChargesOnce(path: string, requestIds: readonly string[], others: number): Promise<void> {
  const ledger = openLedger({ path, secret: KILLED_SECRET });
  expect(await ledger.audit()).to.deep.equal([]);
  const [account] = await ledger.accounts.list();
  const { balance } = await ledger.credits.balance(account!.id);
  await ledger.close();
  expect(CREDITS - balance, 'credits charged').to.equal(requestIds.length + others);
  const charged = chargesOf(path);
  expect(charged.length).to.equal(requestIds.length + others);
  const times = new Map<string, number>();
  for (const id of charged) times.set(id, (times.get(id) ?? 0) + 1);
  for (const id of requestIds) expect(times.get(id), `charges of ${id}`).to.equal(1);
}

function chargesOf(path: string): string[] {
  const database = new Database(path, { fileMustExist: true, timeout: 5000 });
  try {
    const rows = database.prepare<[], { request_id: string }>('SELECT request_id FROM usage_events').all();
    return rows.map(({ request_id: id }) => id);
  } finally {
    database.close();
  }
}
