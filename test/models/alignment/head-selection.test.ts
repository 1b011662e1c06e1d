import { expect } from 'chai';
import { selectHeads, type SelectionLimits } from '../../../src/models/alignment/head-selection.js';

const LIMITS: SelectionLimits = { most: 10, candidates: 10, worst: 20, leastGain: 0.001 };

/** Heads that say when a word is, each off by its error; a set is off by their mean. */
function measurer(errors: readonly number[]) {
  const asked: (readonly number[])[] = [];
  const measure = (sets: readonly (readonly number[])[]): Promise<number[]> => {
    asked.push(...sets);
    return Promise.resolve(
      sets.map((set) => Math.abs(set.reduce((sum, head) => sum + (errors[head] ?? 0), 0) / set.length)),
    );
  };
  return { asked, measure };
}

describe('Choice of alignment heads', () => {
  it('begins with the best head and adds what makes the set better', async () => {
    // 0.03 and -0.03 make up for each other; a third head could only spoil it.
    const { measure } = measurer([0.2, -0.03, 0.03, 0.5]);
    const { alone, grown } = await selectHeads([0, 1, 2, 3], measure, LIMITS);
    expect(alone.map(({ heads }) => heads)).to.deep.equal([[1], [2], [0], [3]]);
    expect(alone.map(({ meanError }) => meanError)).to.deep.equal([0.03, 0.03, 0.2, 0.5]);
    expect(grown.map(({ heads }) => heads)).to.deep.equal([[1], [1, 2]]);
    expect(grown.at(-1)?.meanError).to.equal(0);
  });

  it('adds none that gains too little', async () => {
    const { measure } = measurer([0.1, 0.0985]);
    const alone = await selectHeads([0, 1], measure, LIMITS);
    expect(alone.grown.map(({ heads }) => heads)).to.deep.equal([[1]]);
    const opposite = measurer([0.1, -0.0985]);
    const two = await selectHeads([0, 1], opposite.measure, LIMITS);
    expect(two.grown.at(-1)?.heads).to.deep.equal([1, 0]);
  });

  it('stops at the most heads', async () => {
    const errors = [1, -0.9, 0.5, -0.4, 0.3, -0.25];
    const { measure } = measurer(errors);
    const { grown } = await selectHeads([0, 1, 2, 3, 4, 5], measure, { ...LIMITS, most: 2 });
    expect(grown).to.have.length(2);
  });

  it('tries only the best of the single heads beside others', async () => {
    const { asked, measure } = measurer([0.1, -0.2, 0.3, -0.1]);
    await selectHeads([0, 1, 2, 3], measure, { ...LIMITS, candidates: 2 });
    expect(asked.filter((set) => set.length > 1)).to.deep.equal([[0, 3]]);
  });

  it('tries none that is alone much farther off than the best one', async () => {
    const { asked, measure } = measurer([0.1, -0.2, 0.3, -0.16]);
    await selectHeads([0, 1, 2, 3], measure, { ...LIMITS, worst: 2 });
    expect(asked.filter((set) => set.length > 1)).to.deep.include.members([
      [0, 3],
      [0, 1],
    ]);
    expect(asked.filter((set) => set.length > 1).flat()).not.to.include(2);
  });

  it('needs a head', async () => {
    const refused = await selectHeads([], measurer([]).measure, LIMITS).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(RangeError);
  });
});
