/** How often texts that may change come, by their own time and by the room that final results leave. */
import { expect } from 'chai';
import { PartialPace } from '../../src/live/partial-pace.js';

describe('the pace of partial results', () => {
  /** Milliseconds until the next one is due. */
  const waitAfter = (tookMs: number, room: number): number => {
    const pace = new PartialPace();
    pace.took(tookMs, room, 0);
    let now = 0;
    while (!pace.isDue(now)) now += 1;
    return now;
  };

  it('is 0.3 s where they are quick, and slower where they are not, to 2 s', () => {
    expect(waitAfter(20, 1)).to.equal(300);
    expect(waitAfter(200, 1)).to.equal(600);
    expect(waitAfter(1500, 1)).to.equal(2000);
  });

  it('is slower where final results leave less room, and none are given where they leave hardly any', () => {
    expect(waitAfter(20, 0.5)).to.equal(300);
    expect(waitAfter(20, 0.25)).to.equal(600);
    expect(waitAfter(20, 0.1)).to.equal(1500);
    expect(waitAfter(200, 0.1)).to.equal(2000);
    const pace = new PartialPace();
    expect(pace.hasRoom(0.1, 0)).to.equal(true);
    expect(pace.hasRoom(0.09, 0)).to.equal(false);
    expect(pace.isDue(1999)).to.equal(false);
    expect(pace.isDue(2000)).to.equal(true);
  });

  it('is none for ten seconds behind one that took too long', () => {
    expect(waitAfter(2001, 1)).to.equal(10_000);
    expect(new PartialPace().took(2001, 1, 0)).to.equal(true);
    expect(new PartialPace().took(2000, 1, 0)).to.equal(false);
  });
});
