import { expect } from 'chai';
import {
  choose,
  compareInPairs,
  successiveHalving,
  tuneCandidates,
  type Comparison,
  type Settings,
} from '../../bench/engine/tune-search.js';
import { seededRandom } from '../../bench/load/random.js';

const scoreOf = ({ slots, threads }: Settings): number => 100 - 10 * Math.abs(slots - 4) - 3 * Math.abs(threads - 2);

describe('The search for settings', () => {
  it('tries what uses the cores, and nothing that leaves most idle or fights for them', () => {
    for (const cores of [1, 2, 6, 64]) {
      const candidates = tuneCandidates(['cpu'], cores, 'whisper.cpp');
      expect(new Set(candidates.map((settings) => JSON.stringify(settings))).size).to.equal(candidates.length);
      expect(candidates).to.deep.include({ slots: cores, threads: 1, batch: null });
      expect(candidates).to.deep.include({ slots: 1, threads: cores, batch: null });
      for (const { slots, threads } of candidates) expect(slots * threads).to.be.within(cores / 2, 2 * cores);
    }
    expect(tuneCandidates(['cuda:0', 'cuda:1'], 16, 'whisper.cpp').map(({ slots }) => slots)).to.deep.equal([
      1, 2, 4, 8, 16, 32,
    ]);
  });

  it('tries the sizes of the batch with each of them where windows are decoded together', () => {
    const [plain, batched] = [tuneCandidates(['cpu'], 4, 'whisper.cpp'), tuneCandidates(['cpu'], 4, 'batched')];
    for (const batch of [4, 8, 16])
      expect(batched).to.include.deep.members(plain.map((settings) => ({ ...settings, batch })));
    expect(batched).to.have.length(3 * plain.length);
  });

  it('finds the best in spite of noise, and spends its measurements on the close ones', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = seededRandom(seed);
      let measured = 0;
      const candidates = tuneCandidates(['cpu'], 8, 'whisper.cpp');
      const trials = await successiveHalving(candidates, (settings) => {
        measured++;
        return Promise.resolve({ rtfx: scoreOf(settings) + 2 * random() - 1 });
      });
      expect(trials[0]?.cell, `seed ${seed}`).to.deep.equal({ slots: 4, threads: 2, batch: null });
      expect(trials).to.have.length(candidates.length);
      expect(measured).to.be.below(2 * candidates.length + 2);
      const rounds = trials.map(({ passes }) => passes.length);
      expect(rounds).to.deep.equal([...rounds].sort((a, b) => b - a));
    }
  });

  it('measures the only candidate, and refuses none', async () => {
    const only = await successiveHalving([{ slots: 1, threads: 1, batch: null }], () => Promise.resolve({ rtfx: 7 }));
    expect(only).to.deep.equal([{ cell: { slots: 1, threads: 1, batch: null }, passes: [{ rtfx: 7 }] }]);
    const nothing = await successiveHalving([], () => Promise.resolve({ rtfx: 1 })).catch((error: unknown) => error);
    expect(nothing).to.be.instanceOf(RangeError);
  });

  it('takes the best only where it gains more than chance does', () => {
    const baseline = { slots: 2, threads: 1, batch: null };
    const best = { slots: 1, threads: 2, batch: null };
    const compared = (tuned: number): Comparison => ({
      baseline: [90, 100, 110],
      tuned: [tuned, tuned, tuned],
      ratios: [tuned / 90, tuned / 100, tuned / 110],
      gain: tuned / 100,
    });
    const stays = { ...baseline, rtfx: 100, defaultRtfx: 100, gain: 1 };
    expect(choose(baseline, best, compared(102))).to.deep.equal({
      ...{ ...best, rtfx: 102, defaultRtfx: 100, gain: 1.02 },
    });
    expect(choose(baseline, best, compared(101.9))).to.deep.equal(stays);
    expect(choose(baseline, best, compared(60))).to.deep.equal(stays);
    expect(choose(baseline, baseline, compared(150))).to.deep.equal(stays);
  });

  it('compares by pairs, so that a machine that slows down changes nothing', async () => {
    let speed = 1;
    const { gain, baseline } = await compareInPairs(
      { slots: 1, threads: 1, batch: null },
      { slots: 2, threads: 1, batch: null },
      5,
      ({ slots }) => {
        const rtfx = slots * 10 * speed;
        if (slots === 2) speed *= 0.5;
        return Promise.resolve({ rtfx });
      },
    );
    expect(gain).to.equal(2);
    expect(baseline).to.deep.equal([10, 5, 2.5, 1.25, 0.625]);
  });
});
