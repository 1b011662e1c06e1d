/** Random sessions of both protocols, and what models of the protocols say to their events. */
import { RandomSessions } from '../../support/live-protocol/random-sessions.js';

const SESSIONS = 60;

describe('random live sessions', function () {
  this.timeout(300_000);
  let sessions: RandomSessions;

  beforeEach(async () => {
    sessions = await RandomSessions.start();
  });
  afterEach(() => sessions.dispose());

  for (const protocol of ['openai', 'deepgram'] as const) {
    it(`get what the protocol says, and in its order: ${protocol}`, async () => {
      await sessions.run(protocol, SESSIONS);
      await sessions.checkEmpty();
    });
  }
});
