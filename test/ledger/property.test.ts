import { describeLedger, SQLITE } from './backends.js';
import { checkInterleavings } from './property.js';

describeLedger('ledger: any interleaving', (backend) => {
  it('keeps the same balances as a plain model, with expiry, revocation, crashes and neighbours', async function () {
    this.timeout(300_000);
    await checkInterleavings(backend === SQLITE ? 1000 : 200, backend);
  });
});
