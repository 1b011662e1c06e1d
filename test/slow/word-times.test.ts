import { expect } from 'chai';
import { checkWordTimes } from '../support/word-times-property.js';

const REQUESTS = Number(process.env['REQUESTS'] ?? 2000);
const SEED = Number(process.env['SEED'] ?? 2);

describe('word times of random recordings, at length', function () {
  this.timeout(3_600_000);

  it(`hold in ${REQUESTS} requests`, async () => {
    const words = await checkWordTimes(REQUESTS, SEED);
    expect(words).to.be.above(5 * REQUESTS);
  });
});
