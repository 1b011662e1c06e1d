/**
 * Whether the server's memory stands still, counted in requests and not in hours: at half a request a second two hours
 * end where the heap has just settled. Short requests at full rate, `verbatim serve` as its own process (so `npm run
 * build` first).
 */
import { expect } from 'chai';
import { Pool } from 'undici';
import { residentBytes } from '../../bench/processes/process-usage.js';
import { startVerbatim, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { fitSlope } from '../../bench/reports/regression.js';
import { pcmOfSample, wavOf } from '../support/speech.js';
import { postClip } from './posting.js';
import { builtMain } from './built-main.js';

const REQUESTS = 50_000;
/** The heap, the caches of SQLite and the pools of the allocator fill up first. */
const WARM_UP = 10_000;
const SAMPLE_EVERY = 200;
const CLIENTS = 8;
const GOAL_KIB_PER_1000 = 20;

describe('Memory over many requests', function () {
  this.timeout(4 * 3600_000);
  let server: VerbatimProcess;
  let pool: Pool;

  before(async () => {
    server = await startVerbatim({
      main: builtMain,
      env: { VERBATIM_THREADS: '1', VERBATIM_LOG_LEVEL: 'warn' },
    });
    pool = new Pool(server.url, { connections: CLIENTS });
  });

  after(async () => {
    await pool.destroy();
    await server.stop();
  });

  it(`grows by at most ${GOAL_KIB_PER_1000} KiB in 1,000 of the last ${REQUESTS - WARM_UP} requests`, async () => {
    // Half a second of speech: enough to go all the way, and little enough that the rate is the shell's to bear.
    const clip = new Blob([wavOf(pcmOfSample().subarray(0, 16_000))]);
    const points: [thousands: number, kibibytes: number][] = [];
    let sent = 0;
    let answered = 0;
    const client = async (key: string): Promise<void> => {
      while (sent++ < REQUESTS) {
        expect((await postClip(pool, key, clip)).status).to.equal(200);
        answered++;
        if (answered % SAMPLE_EVERY === 0) points.push([answered / 1000, residentBytes(server.pid) / 1024]);
        if (answered % 5000 === 0) console.log(`      ${answered}: ${points.at(-1)?.[1].toFixed(0)} KiB`);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(server.keys[number]!)));
    const { slope, margin } = fitSlope(points.filter(([thousands]) => thousands * 1000 > WARM_UP));
    console.log(`      ${slope.toFixed(1)} KiB per 1,000 requests, +- ${margin.toFixed(1)}`);
    expect(slope).to.be.at.most(GOAL_KIB_PER_1000);
  });
});
