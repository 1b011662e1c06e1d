/**
 * Many random live sessions: `npm run test:slow -- --grep 'random live sessions at length'`. COUNT sets how many of each
 * protocol (2000), SEED where the random numbers begin, FIRST the number of the first session (0).
 */
import { RandomSessions } from '../support/live-protocol/random-sessions.js';

const COUNT = Number(process.env['COUNT'] ?? 2000);
const FIRST = Number(process.env['FIRST'] ?? 0);

describe('random live sessions at length', function () {
  this.timeout(3600_000);
  let sessions: RandomSessions;

  before(async () => {
    sessions = await RandomSessions.start();
  });
  after(() => sessions.dispose());

  for (const protocol of ['openai', 'deepgram'] as const) {
    it(`${COUNT} get what the protocol says, and in its order: ${protocol}`, async () => {
      await sessions.run(protocol, COUNT, FIRST);
      await sessions.checkEmpty();
    });
  }
});
