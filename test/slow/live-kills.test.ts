/**
 * Live sessions go on when the engine's process is killed: `npm run test:slow -- --grep 'live sessions of killed'`
 * (`npm run build` first). LIVE_KILLS sets how many kills and sessions (50), SEED where the random numbers begin.
 */
import { Mulberry32 } from '../support/random.js';
import { SEED } from '../support/seed.js';
import { expect } from 'chai';
import { makeSpeakers } from './live-kills/speakers.js';
import { expectSame, KilledSessions } from './live-kills/scenario.js';

const KILLS = Number(process.env['LIVE_KILLS'] ?? 50);
const AT_ONCE = 5;
const SECONDS = 40;

describe(`${KILLS} live sessions of killed engines`, function () {
  this.timeout(3600_000);
  const random = new Mulberry32(SEED);
  let sessions: KilledSessions;

  before(async () => {
    sessions = await KilledSessions.start(AT_ONCE, random);
  });
  after(() => sessions.stop());

  it('say what they say without a kill, and cost what they cost', async () => {
    let kills = 0;
    let survived = 0;
    while (survived < KILLS || kills < KILLS) {
      const speakers = await makeSpeakers(AT_ONCE, SECONDS, random);
      const calm = await sessions.calmly(speakers);
      const round = await sessions.killed(speakers, AT_ONCE);
      kills += round.kills;
      expectSame(calm, round.outcomes, speakers);
      survived += round.outcomes.length;
      process.stdout.write(`      ${survived} sessions, ${kills} kills, ${sessions.deathsAmidWork} amid their work\n`);
    }
    expect(sessions.deathsAmidWork).to.be.above(KILLS / 4);
    await sessions.checkCharges();
  });
});
