import { expect } from 'chai';
import { amountByAccount, doneWhenServed } from '../../src/engine/fair-share.js';

describe('What fair turns make of work that waits', () => {
  it('adds up what each account has', () => {
    const work = [
      { accountId: 'one', amount: 3 },
      { accountId: 'other', amount: 4 },
      { accountId: 'one', amount: 5 },
    ];
    expect([...amountByAccount(work)]).to.deep.equal([
      ['one', 8],
      ['other', 4],
    ]);
  });

  it('gives each account as much, or all that it has', () => {
    expect(doneWhenServed([8, 4, 1], 3)).to.equal(3 + 3 + 1);
    expect(doneWhenServed([], 3)).to.equal(0);
  });
});
