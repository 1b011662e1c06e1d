import { expect } from 'chai';
import { workUntilDone, type PlacedWork } from '../../../src/engine/remote/placement.js';

function speech(accountId: string, amount: number, background = false): PlacedWork {
  return { kind: 'speech', accountId, amount, background };
}

const HOUR = 3600;

describe('How much is done until a request is', () => {
  it('is itself where nothing else waits', () => {
    expect(workUntilDone(speech('one', 3), [])).to.equal(3);
  });

  it('is as much again of every other account, or all that it has', () => {
    const others = [speech('two', HOUR), speech('two', HOUR), speech('three', 2), speech('four', HOUR)];
    expect(workUntilDone(speech('one', 3), others)).to.equal(3 + 3 + 2 + 3);
  });

  it('counts of its own account what has no more left, and of the others as much as all of that', () => {
    const others = [speech('one', 10), speech('one', HOUR), speech('two', HOUR)];
    expect(workUntilDone(speech('one', 10), others)).to.equal(20 + 20);
  });

  it('counts all of its account before what is done in the background, and none of that before the rest', () => {
    const others = [speech('one', HOUR), speech('one', 1, true)];
    expect(workUntilDone(speech('one', 10, true), others)).to.equal(10 + HOUR + 1);
    expect(workUntilDone(speech('one', 10), [speech('one', 1, true)])).to.equal(10);
  });

  it('counts nothing that waits for other turns', () => {
    expect(workUntilDone(speech('one', 3), [{ ...speech('one', 1), kind: 'text' }])).to.equal(3);
  });
});
