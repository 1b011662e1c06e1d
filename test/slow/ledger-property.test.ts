import { SQLITE } from '../ledger/backends.js';
import { checkInterleavings } from '../ledger/property.js';

describe('ledger: any interleaving, at length', function () {
  this.timeout(1_800_000);

  it('keeps the same balances as a plain model in 20,000 lives', async () => {
    await checkInterleavings(20_000, SQLITE);
  });
});
