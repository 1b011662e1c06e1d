import { expect } from 'chai';
import fc from 'fast-check';
import { Backlog, type BacklogPlace } from '../../../src/engine/speech/backlog.js';
import { RealTimeFactor } from '../../../src/engine/speech/real-time-factor.js';
import { VerbatimError } from '../../../src/errors.js';
import { FakeClock } from '../fake-binding.js';

function backlogOf(maxSeconds: number, realTimeFactor = 0.1): Backlog {
  return new Backlog({ maxSeconds, clock: new FakeClock(), realTimeFactor: () => realTimeFactor });
}

function refusal(backlog: Backlog, audioSeconds: number): VerbatimError {
  try {
    backlog.admit({ accountId: 'a', audioSeconds });
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
    expect(refusal(backlog, 1)).to.include({ code: 'overloaded', status: 503 });
    place.advance(5);
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

  it('refuses a length that is none', () => {
    for (const audioSeconds of [NaN, -1, Infinity]) {
      expect(() => backlogOf(100).admit({ accountId: 'a', audioSeconds })).to.throw(RangeError);
    }
  });

  it('never holds more than the bound but a single file, and ends empty', () => {
    const step = fc.record({
      audioSeconds: fc.double({ min: 0, max: 300, noNaN: true }),
      advance: fc.double({ min: 0, max: 400, noNaN: true }),
      release: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const backlog = backlogOf(200);
        const places: BacklogPlace[] = [];
        for (const { audioSeconds, advance, release } of steps) {
          try {
            places.push(backlog.admit({ accountId: 'a', audioSeconds }));
          } catch (error) {
            expect(error).to.be.instanceOf(VerbatimError);
            expect((error as VerbatimError).retryAfterSeconds).to.be.at.least(1);
          }
          const waiting = places.filter((place) => place.audioLeftSeconds > 0);
          expect(backlog.seconds <= 200 + 1e-9 || waiting.length === 1).to.equal(true);
          places[0]?.advance(advance);
          if (release) places.shift()?.release();
        }
        for (const place of places) place.release();
        expect(backlog.seconds).to.equal(0);
      }),
    );
  });
});

describe('RealTimeFactor', () => {
  it('starts with a guess, and forgets it', () => {
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
