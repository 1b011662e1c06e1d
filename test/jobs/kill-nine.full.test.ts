/** A server with jobs is killed: `npm run test:kill` does it two hundred times. */
import { JobLoad } from '../slow/kill-nine/job-load.js';

describe('kill -9 amid jobs and webhooks', function () {
  this.timeout(300_000);
  let load: JobLoad;
  before(async () => (load = await JobLoad.prepare()));
  after(() => load.dispose());

  it('ends every job once, charges it once, and reports it under one id', async () => {
    await load.round({ accepted: 1 });
    await load.round({ accepted: 6 });
    await load.round({ received: 1 });
    await load.round({ received: 4 });
    await load.finish();
  });
});
