/** A few of what the slow tests do at length: the engine's process is killed while live sessions run. */
import { expect } from 'chai';
import { makeSpeakers } from '../slow/live-kills/speakers.js';
import { expectSame, KilledSessions } from '../slow/live-kills/scenario.js';
import { Mulberry32 } from '../support/random.js';

describe('live sessions of an engine that is killed three times', function () {
  this.timeout(300_000);
  const random = new Mulberry32(31);
  let sessions: KilledSessions;

  before(async () => {
    sessions = await KilledSessions.start(4, random);
  });
  after(() => sessions.stop());

  it('say what they say without a kill, and cost what they cost', async () => {
    const speakers = await makeSpeakers(4, 15, random);
    const calm = await sessions.calmly(speakers);
    const { outcomes, kills } = await sessions.killed(speakers, 3);
    expect(kills).to.be.at.least(1);
    expectSame(calm, outcomes, speakers);
    expect(sessions.deathsAmidWork).to.be.at.least(1);
    await sessions.checkCharges();
  });
});
