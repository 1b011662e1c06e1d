/** What must be fast, by this machine's clock. */
import { expect } from 'chai';
import { withoutPunctuation } from '../../src/transcription/punctuation.js';
import { Bench } from '../ledger/support.js';

/** Milliseconds of processor time, the least of five runs. */
function processorMs(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

describe('speed', () => {
  it('API keys are authenticated thousands of times a second', async () => {
    const bench = new Bench();
    const ledger = await bench.server();
    const accountId = (await ledger.accounts.create({ email: 'ann@example.com', name: 'Ann' })).id;
    const { rawKey } = await ledger.keys.create({ accountId, name: 'key', scopes: [] });
    const before = process.cpuUsage();
    for (let n = 0; n < 2000; n += 1) await ledger.keys.authenticate(rawKey);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.below(1000);
    await bench.dispose();
  });

  it('punctuation is dropped in time proportional to the text', () => {
    const msOf = (repeats: number): number => {
      const text = "A.b.c-d'e,1.2 ".repeat(repeats);
      return processorMs(() => withoutPunctuation(text, 'en'));
    };
    msOf(5_000); // compiled from here on
    expect(msOf(80_000) / msOf(10_000)).to.be.below(16);
  });
});
