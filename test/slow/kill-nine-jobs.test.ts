/** kill -9 amid jobs and webhooks: `npm run test:kill`. KILLS sets how many (200). */
import { JobLoad } from './kill-nine/job-load.js';

const KILLS = Number(process.env['KILLS'] ?? 200);
const MOST_BEFORE_A_KILL = 12;

describe(`kill -9 at ${KILLS} moments amid jobs and webhooks`, () => {
  let load: JobLoad;
  before(async () => (load = await JobLoad.prepare()));
  after(() => load.dispose());

  it('ends every job once, charges it once, and reports it under one id', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const count = 1 + Math.floor(Math.random() * MOST_BEFORE_A_KILL);
      await load.round(kill % 2 === 0 ? { accepted: count } : { received: count });
    }
    await load.finish();
    process.stdout.write(`      ${KILLS} kills, ${load.wanted.length} jobs\n`);
  });
});
