import { expect } from 'chai';
import { checkWordTimes } from '../../support/word-times-property.js';

describe('Word times of random recordings', function () {
  this.timeout(120_000);

  it('are in order, in the file, and of the very words of the text', async () => {
    expect(await checkWordTimes(20, 1)).to.be.above(100);
  });
});
