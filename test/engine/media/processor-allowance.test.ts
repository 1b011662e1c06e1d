/** What a conversion may take of a processor, counted. */
import { expect } from 'chai';
import { ProcessorAllowance } from '../../../src/engine/media/processor-allowance.js';

describe('The processor time of a conversion', () => {
  let allowance: ProcessorAllowance;
  beforeEach(() => (allowance = new ProcessorAllowance()));

  it('is 10 s until there is audio, and from each second of audio to the next', () => {
    allowance.count(10_000, 0);
    expect(allowance.isUsedUp).to.equal(false);
    allowance.count(10_010, 0);
    expect(allowance.isUsedUp).to.equal(true);
    allowance.count(10_010, 200);
    expect(allowance.isUsedUp).to.equal(false);
    allowance.count(20_010, 200.9);
    expect(allowance.isUsedUp).to.equal(false);
    allowance.count(20_020, 200.9);
    expect(allowance.isUsedUp).to.equal(true);
  });

  it('grows with the audio by a tenth of its length, whatever comes in between', () => {
    for (let second = 1; second <= 20; second++) allowance.count(second * 600, second);
    expect(allowance.isUsedUp).to.equal(false);
    allowance.count(12_010, 20);
    expect(allowance.isUsedUp).to.equal(true);
  });

  it('is costly from a clip’s on, where it is more than a fiftieth of the audio', () => {
    allowance.count(400, 0);
    expect(allowance.isCostly).to.equal(false);
    allowance.count(410, 0);
    expect(allowance.isCostly).to.equal(true);
    allowance.count(4000, 3600);
    expect(allowance.isCostly).to.equal(false);
  });
});
