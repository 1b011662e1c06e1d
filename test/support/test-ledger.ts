/** A ledger of its own on SQLite, for tests of what stands on one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';

export class TestLedger {
  readonly #directory = mkdtempSync(join(tmpdir(), 'verbatim-ledger-'));
  readonly ledger: Ledger = createLedger({
    path: join(this.#directory, 'verbatim.db'),
    secret: 'a secret for the tests',
  });
  #accounts = 0;

  async customer(credits: number): Promise<{ accountId: string; keyId: string }> {
    const { id: accountId } = await this.ledger.accounts.create({ email: `live${++this.#accounts}@example.com` });
    await this.ledger.credits.grant({ accountId, amount: credits });
    const { id: keyId } = await this.ledger.keys.create({ accountId, name: 'live', scopes: [] });
    return { accountId, keyId };
  }

  /** Started minutes that were charged, and their credits. */
  async usage(accountId: string): Promise<{ minutes: number; credits: number }> {
    const days = await this.ledger.history.usageByDay(accountId, 1);
    return {
      minutes: days.reduce((sum, day) => sum + day.minutes, 0),
      credits: days.reduce((sum, day) => sum + day.credits, 0),
    };
  }

  async close(): Promise<void> {
    await this.ledger.close();
    rmSync(this.#directory, { recursive: true });
  }
}
