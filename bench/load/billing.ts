/** What the ledger alone costs a request: the hold before its work and the charge after it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLedger } from '../../src/ledger/sqlite/ledger.js';

export interface Billing {
  /** Milliseconds, one each a request. */
  hold: number[];
  settle: number[];
}

const WARM_UP = 10;

/** On the disk of the temporary directory, where the server of a benchmark has its ledger, too. */
export async function measureBilling(requests: number): Promise<Billing> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const ledger = createLedger({ path: join(directory, 'verbatim.db') });
  try {
    const { id: accountId } = await ledger.accounts.create({ email: 'bench@localhost' });
    const { id: keyId } = await ledger.keys.create({ accountId, name: 'bench', scopes: [] });
    await ledger.credits.grant({ accountId, amount: requests + WARM_UP });
    const billing: Billing = { hold: [], settle: [] };
    for (let request = 0; request < requests + WARM_UP; request++) {
      const requestId = `req_${request}`;
      const begin = performance.now();
      const hold = await ledger.holds.place({ accountId, keyId, requestId, credits: 1 });
      const held = performance.now();
      await ledger.holds.settle(hold.id, {
        ...{ credits: 1, minutes: 1, audioSeconds: 3, requestId, endpoint: '/api/v1/transcribe' },
        ...{ transcriptionId: `tr_${request}`, language: 'en', model: null, result: {} },
      });
      if (request < WARM_UP) continue;
      billing.hold.push(held - begin);
      billing.settle.push(performance.now() - held);
    }
    return billing;
  } finally {
    await ledger.close();
    rmSync(directory, { recursive: true });
  }
}
