/**
 * The engine's process is killed every 0.3 s for 25 s, so that none becomes ready; then the first clip that is answered:
 * `npm run test:slow -- --grep 'soon after'` (`npm run build` first).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { isAlive } from '../support/child-processes.js';
import { openKilledAccount, KILLED_SECRET } from './engine-kills/charges.js';
import { carryOutWork, KINDS_OF_WORK } from './engine-kills/clients.js';
import { KilledServer } from './engine-kills/killed-server.js';

const KILL_EVERY_MS = 300;
const KILLING_MS = 25_000;
/** Least time between a death and the next start, see ServingWorker. */
const PAUSE_MS = 1000;
const STARTS = 7;
const [clip] = KINDS_OF_WORK;

describe('A clip after 25 s in which the engine was killed every 0.3 s', function () {
  this.timeout(600_000);
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-rapid-kills-'));
  const database = join(directory, 'verbatim.db');
  let server: KilledServer;
  let key: string;

  before(async () => {
    key = await openKilledAccount(database);
    const data = { VERBATIM_DATABASE: database, VERBATIM_DATA_DIR: directory, VERBATIM_SECRET: KILLED_SECRET };
    server = await KilledServer.start(data);
  });
  after(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Until a clip is answered, milliseconds; and how many were refused before. */
  async function firstAnswer(from = performance.now()): Promise<{ ms: number; refused: number }> {
    for (let refused = 0; ; refused++) {
      const { status, text } = await carryOutWork(server.url, key, clip!);
      if (status === 200) return { ms: performance.now() - from, refused };
      expect(status, text).to.equal(503);
      await sleep(20);
    }
  }

  it('is answered soon after, within a pause of a second and two starts', async () => {
    const starts: number[] = [];
    for (let n = 0; n < STARTS; n++) {
      await firstAnswer(); // The process has answered something: the next one starts at once.
      process.kill(await server.calm(), 'SIGKILL');
      starts.push((await firstAnswer()).ms);
    }
    const startMs = starts.sort((one, other) => one - other)[Math.floor(STARTS / 2)]!;
    await server.calm();
    let kills = 0;
    let lastKill = 0;
    for (const until = performance.now() + KILLING_MS; performance.now() < until;) {
      for (const pid of server.engines.filter(isAlive)) {
        process.kill(pid, 'SIGKILL');
        kills += 1;
        lastKill = performance.now();
      }
      await sleep(KILL_EVERY_MS);
    }
    expect(kills, 'processes killed').to.be.above(5);
    const { ms, refused } = await firstAnswer(lastKill);
    process.stdout.write(
      `      ${kills} processes killed; a clip over one kill takes ${startMs.toFixed(0)} ms (median of ${STARTS}); ` +
        `after the last kill the first answer came after ${ms.toFixed(0)} ms, ${refused} were refused before\n`,
    );
    expect(ms).to.be.below(PAUSE_MS + 2 * startMs);
  });
});
