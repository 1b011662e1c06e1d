import { expect } from 'chai';
import { ConcurrencyLimit } from '../../../src/http/dashboard/concurrency-limit.js';

describe('dashboard: few at once', () => {
  it('runs so many, lets so many wait in their order, and refuses the rest', async () => {
    const few = new ConcurrencyLimit({ running: 2, waiting: 1 }, () => new Error('too many'));
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const work = (name: string): Promise<string> =>
      few.run(() => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, () => resolve(name)));
      });
    const [one, two, three] = [work('one'), work('two'), work('three')];
    expect(begun).to.deep.equal(['one', 'two']);
    const refused = await work('four').catch(String);
    expect(refused).to.equal('Error: too many');
    ends.get('two')?.();
    expect(await two).to.equal('two');
    await Promise.resolve();
    expect(begun).to.deep.equal(['one', 'two', 'three']);
    for (const name of ['one', 'three']) ends.get(name)?.();
    expect(await Promise.all([one, three])).to.deep.equal(['one', 'three']);
  });

  it('gives a place back when the work fails', async () => {
    const few = new ConcurrencyLimit({ running: 1, waiting: 0 }, () => new Error('too many'));
    for (let n = 0; n < 3; n += 1) {
      const failure = await few.run(() => Promise.reject(new Error('broken'))).catch(String);
      expect(failure).to.equal('Error: broken');
    }
  });
});
