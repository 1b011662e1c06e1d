/**
 * A polite client beside greedy ones while the backlog is full, on `verbatim serve` as its own process (so `npm run
 * build` first; ATTACKED_MAIN names the entry point of another build). It sends one clip at a time, and is served.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Pool } from 'undici';
import type { VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { startChecked } from '../support/recorded-answers.js';
import { sample } from '../support/speech.js';
import { postClip, type Posted } from './posting.js';
import { attackedMain } from './built-main.js';

const GREEDY_CLIENTS = 24;
const POLITE_CLIPS = 49;

describe('A full backlog', function () {
  this.timeout(600_000);
  let server: VerbatimProcess;
  let pool: Pool;
  let over = false;

  before(async () => {
    server = await startChecked({
      main: attackedMain,
      env: { VERBATIM_MAX_BACKLOG_SECONDS: '20', VERBATIM_LOG_LEVEL: 'fatal' },
    });
    pool = new Pool(server.url, { connections: GREEDY_CLIENTS + 1 });
  });

  after(async () => {
    over = true;
    await pool.destroy();
    await server.stop();
  });

  const post = (key: string): Promise<Posted> => postClip(pool, key, sample('en-wav16.wav').path);

  it('refuses those who hold most of it, not the client of one clip at a time', async () => {
    const [polite = '', ...greedy] = server.keys;
    const waits = new Map<string, number>();
    let refusals = 0;
    const beGreedy = async (key: string): Promise<void> => {
      while (!over) {
        const { status, retryAfter } = await post(key);
        if (status !== 503) continue;
        refusals++;
        waits.set(retryAfter, (waits.get(retryAfter) ?? 0) + 1);
        await sleep(10);
      }
    };
    const attack = Array.from({ length: GREEDY_CLIENTS }, (_, number) =>
      beGreedy(greedy[number % greedy.length] ?? '').catch(() => undefined),
    );
    while (refusals < GREEDY_CLIENTS) await sleep(50);
    let refused = 0;
    for (let clip = 0; clip < POLITE_CLIPS; clip++) if ((await post(polite)).status !== 200) refused++;
    over = true;
    await Promise.all(attack);
    const reported = [...waits].map(([seconds, times]) => `${seconds} s: ${times}`).join(', ');
    console.log(`      polite: ${refused} of ${POLITE_CLIPS} refused; greedy: ${refusals} refused, with ${reported}`);
    expect(refused).to.equal(0);
  });
});
