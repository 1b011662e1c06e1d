import { expect } from 'chai';
import { SlotUse } from '../../src/live/slot-use.js';

describe('The slots of live sessions', () => {
  it('are free for a partial result while fewer results are on their way than there are slots', () => {
    const use = new SlotUse(() => 2);
    expect(use.isFree).to.equal(true);
    const endPartial = use.beginPartial(() => undefined);
    const endFinal = use.beginFinal();
    expect(use.isFree).to.equal(false);
    endFinal();
    expect(use.isFree).to.equal(true);
    endPartial();
    expect(use.isFree).to.equal(true);
  });

  it('take the newest partial results from their sessions for final results, and no more than are needed', () => {
    const use = new SlotUse(() => 3);
    const givenUp: string[] = [];
    const ends = ['first', 'second', 'third'].map((name) => use.beginPartial(() => givenUp.push(name)));
    const endFinal = use.beginFinal();
    expect(givenUp).to.deep.equal(['third']);
    use.beginFinal();
    expect(givenUp).to.deep.equal(['third', 'second']);
    // One that has ended is not given up, and one that was given up may say that it has ended.
    ends[0]!();
    ends[1]!();
    use.beginFinal();
    use.beginFinal();
    expect(givenUp).to.deep.equal(['third', 'second']);
    endFinal();
    expect(use.isFree).to.equal(false);
  });

  it('are asked for anew: a machine may get more', () => {
    let slots = 1;
    const use = new SlotUse(() => slots);
    use.beginFinal();
    expect(use.isFree).to.equal(false);
    slots = 2;
    expect(use.isFree).to.equal(true);
  });
});
