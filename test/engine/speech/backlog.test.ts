import { expect } from 'chai';
import fc from 'fast-check';
import { Backlog, type BacklogPlace } from '../../../src/engine/backlog.js';
import { RealTimeFactor } from '../../../src/engine/speech/real-time-factor.js';
import { VerbatimError } from '../../../src/errors.js';

function backlogOf(maxSeconds: number, realTimeFactor = 0.1): Backlog {
  return new Backlog({ maxSeconds, realTimeFactor: () => realTimeFactor });
}

function refusal(backlog: Backlog, audioSeconds: number, accountId = 'a'): VerbatimError {
  try {
    backlog.admit({ accountId, audioSeconds });
  } catch (error) {
    if (error instanceof VerbatimError) return error;
  }
  throw new Error('It was admitted.');
}

describe('Backlog', () => {
  it('takes audio up to the bound, and again once there is room', () => {
    const backlog = backlogOf(100);
    const place = backlog.admit({ accountId: 'a', audioSeconds: 60 });
    backlog.admit({ accountId: 'a', audioSeconds: 40 });
    expect(backlog.seconds).to.equal(100);
    expect(refusal(backlog, 1)).to.include({ code: 'overloaded' });
    place.setDone(5);
    backlog.admit({ accountId: 'a', audioSeconds: 5 });
    place.release();
    place.release();
    expect(backlog.seconds).to.equal(45);
  });

  it('says after how many seconds there will be room, at the measured speed, and at least 1', () => {
    const backlog = backlogOf(100, 0.5);
    backlog.admit({ accountId: 'a', audioSeconds: 90 });
    expect(refusal(backlog, 40).retryAfterSeconds).to.equal(15); // 30 s too many
    expect(refusal(backlog, 5000).retryAfterSeconds).to.equal(45); // only an empty backlog takes it
    expect(refusal(backlog, 10.5).retryAfterSeconds).to.equal(1);
  });

  it('takes a file that is longer than the bound when nothing else waits', () => {
    const backlog = backlogOf(100);
    backlog.admit({ accountId: 'a', audioSeconds: 5000 }).release();
    expect(backlog.seconds).to.equal(0);
  });

  it('reports who has most of it, requests and seconds, the background apart, twenty accounts at most', () => {
    const backlog = backlogOf(1e6);
    for (let n = 1; n <= 30; n++) backlog.admit({ accountId: `a${n}`, audioSeconds: n });
    backlog.admit({ accountId: 'a7', audioSeconds: 100 }).setDone(40);
    backlog.readmit({ accountId: 'a1', audioSeconds: 500, background: true });
    const [first, second, third] = backlog.byAccount;
    expect(first).to.deep.equal({ accountId: 'a1', requests: 2, seconds: 1, backgroundSeconds: 500 });
    expect(second).to.deep.equal({ accountId: 'a7', requests: 2, seconds: 67, backgroundSeconds: 0 });
    expect(third).to.include({ accountId: 'a30', seconds: 30 });
    expect(backlog.byAccount).to.have.length(20);
  });

  it('counts what is in the background for nobody', () => {
    const backlog = backlogOf(100, 1);
    backlog.readmit({ accountId: 'a', audioSeconds: 5000, background: true });
    expect(backlog.seconds).to.equal(0);
    expect(backlog.retryAfterSeconds).to.equal(1);
    backlog.admit({ accountId: 'a', audioSeconds: 60 });
    expect(refusal(backlog, 60).retryAfterSeconds).to.equal(20);
  });

  it('refuses a length that is none', () => {
    for (const audioSeconds of [NaN, -1, Infinity]) {
      expect(() => backlogOf(100).admit({ accountId: 'a', audioSeconds })).to.throw(RangeError);
    }
  });

  it('refuses the account that holds most first: one below its share is admitted beside it', () => {
    const backlog = backlogOf(100);
    backlog.admit({ accountId: 'greedy', audioSeconds: 100 });
    expect(refusal(backlog, 1, 'greedy').code).to.equal('overloaded');
    backlog.admit({ accountId: 'polite', audioSeconds: 30 });
    backlog.admit({ accountId: 'polite', audioSeconds: 20 });
    expect(refusal(backlog, 1, 'polite').code).to.equal('overloaded'); // its half
    backlog.admit({ accountId: 'third', audioSeconds: 33 });
    backlog.readmit({ accountId: 'third', audioSeconds: 400 - 183 - 17 });
    backlog.checkRoom({ accountId: 'fourth', audioSeconds: 17 });
    expect(refusal(backlog, 18, 'fourth').code).to.equal('overloaded'); // four times the bound
  });

  it('does not shut a long file out that is the only one of its account', () => {
    const backlog = backlogOf(100);
    backlog.admit({ accountId: 'greedy', audioSeconds: 85 });
    expect(refusal(backlog, 66, 'other').code).to.equal('overloaded');
    backlog.admit({ accountId: 'other', audioSeconds: 65 });
    expect(refusal(backlog, 1, 'other').code).to.equal('overloaded');
  });

  const ACCOUNTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const aRequest = fc.record({
    accountId: fc.constantFrom(...ACCOUNTS),
    audioSeconds: fc.double({ min: 0, max: 150, noNaN: true }),
  });

  it('never holds more than four times the bound but a single file, takes whoever is below the share, and ends empty', () => {
    const step = fc.record({ request: aRequest, served: fc.double({ min: 0, max: 60, noNaN: true }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const backlog = backlogOf(100);
        const places: BacklogPlace[] = [];
        for (const { request, served } of steps) {
          const held = heldBy(places);
          const own = held.get(request.accountId) ?? 0;
          const share = 100 / (held.size + (own > 0 ? 0 : 1));
          const after = backlog.seconds + request.audioSeconds;
          try {
            places.push(backlog.admit(request));
            expect(after <= 400 || own + request.audioSeconds === after).to.equal(true);
          } catch (error) {
            expect((error as VerbatimError).code).to.equal('overloaded');
            expect(after, 'room for everyone').to.be.above(100);
            if (own + request.audioSeconds <= share) expect(after).to.be.above(400);
          }
          serve(places, served);
        }
        for (const place of places) place.release();
        expect(backlog.seconds).to.equal(0);
      }),
    );
  });

  it('says when there will be room for that account: then, and not a second sooner', () => {
    const factor = 0.5;
    fc.assert(
      fc.property(fc.array(aRequest, { minLength: 1, maxLength: 30 }), aRequest, (requests, last) => {
        const after = (seconds: number): Backlog => {
          const backlog = backlogOf(100, factor);
          const places = requests.map((request) => backlog.readmit(request));
          serve(places, seconds / factor);
          return backlog;
        };
        const room = (seconds: number): boolean => !isRefused(after(seconds), last);
        if (room(0)) return;
        const { retryAfterSeconds } = refusal(after(0), last.audioSeconds, last.accountId);
        expect(room(retryAfterSeconds! + 0.01)).to.equal(true);
        if (retryAfterSeconds! > 1) expect(room(retryAfterSeconds! - 1.01)).to.equal(false);
      }),
    );
  });

  it('admits every clip of a client that sends one after the other, beside greedy ones that ask at every moment', () => {
    for (const greedy of [1, 3, 8, 20]) {
      const backlog = backlogOf(1000);
      let places: BacklogPlace[] = [];
      let refused = 0;
      for (let moment = 0; moment < 150; moment++) {
        for (let n = 0; n < greedy; n++) {
          while (!isRefused(backlog, { accountId: `greedy${n}`, audioSeconds: 20 })) {
            places.push(backlog.admit({ accountId: `greedy${n}`, audioSeconds: 20 }));
          }
        }
        const clip = { accountId: 'polite', audioSeconds: 5 };
        const waits = places.some(({ accountId }) => accountId === 'polite');
        if (!waits && isRefused(backlog, clip)) refused++;
        else if (!waits) places.push(backlog.admit(clip));
        serve(places, 30);
        for (const done of places.filter((place) => place.audioLeftSeconds === 0)) done.release();
        places = places.filter((place) => place.audioLeftSeconds > 0);
      }
      expect(refused, `${greedy} greedy accounts`).to.equal(0);
    }
  });
});

function isRefused(backlog: Backlog, request: { accountId: string; audioSeconds: number }): boolean {
  try {
    backlog.checkRoom(request);
    return false;
  } catch {
    return true;
  }
}

function heldBy(places: readonly BacklogPlace[]): Map<string, number> {
  const held = new Map<string, number>();
  for (const { accountId, audioLeftSeconds } of places) {
    if (audioLeftSeconds > 0) held.set(accountId, (held.get(accountId) ?? 0) + audioLeftSeconds);
  }
  return held;
}

/** Transcribes so many seconds, in equal parts of every account that has any left. */
function serve(places: readonly BacklogPlace[], seconds: number): void {
  let left = seconds;
  for (let held = heldBy(places); left > 1e-9 && held.size > 0; held = heldBy(places)) {
    const each = Math.min(left / held.size, ...held.values());
    left -= each * held.size;
    for (const accountId of held.keys()) advance(places, accountId, each);
  }
}

function advance(places: readonly BacklogPlace[], accountId: string, seconds: number): void {
  let left = seconds;
  for (const place of places.filter((candidate) => candidate.accountId === accountId)) {
    const part = Math.min(left, place.audioLeftSeconds);
    place.setDone(place.audioSeconds - place.audioLeftSeconds + part);
    left -= part;
  }
}

describe('RealTimeFactor', () => {
  it('starts with a guess, and replaces it', () => {
    const factor = new RealTimeFactor(2);
    expect(factor.value).to.equal(0.5);
    for (let n = 0; n < 100; n++) factor.add(0.8, 8);
    expect(factor.value).to.be.closeTo(0.05, 0.001);
  });

  it('follows a change within minutes of audio, whatever the windows are', () => {
    for (const seconds of [1, 8, 30]) {
      const factor = new RealTimeFactor(1);
      for (let audio = 0; audio < 3000; audio += seconds) factor.add(0.1 * seconds, seconds);
      for (let audio = 0; audio < 600; audio += seconds) factor.add(0.3 * seconds, seconds);
      expect(factor.value, `${seconds} s`).to.be.within(0.29, 0.3);
    }
  });
});
