import { checkInterleavings } from './property.js';

describe('ledger: any interleaving', function () {
  this.timeout(300_000);

  it('keeps the same books as a plain model, with expiry, revocation, crashes and neighbours', async () => {
    await checkInterleavings(1000);
  });
});
