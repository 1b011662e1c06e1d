import { expect } from 'chai';
import * as fc from 'fast-check';
import { voicesOf, type ClusteringOptions } from '../../../src/engine/speakers/clustering.js';
import { CondensedItems } from '../../../src/engine/speakers/condensed-items.js';
import { cutAfter, dendrogram } from '../../../src/engine/speakers/dendrogram.js';
import { OwnLikeness } from '../../../src/engine/speakers/own-likeness.js';
import { nearestVoice, partitions, type Item } from '../../../src/engine/speakers/partitions.js';
import { scalarProduct } from '../../../src/engine/speakers/vectors.js';
import { shuffled, seededRandom } from '../../../bench/load/random.js';
import { madeVoices } from './made-voices.js';

const OPTIONS: ClusteringOptions = { threshold: 0.6, minSeconds: 3, minSpeakers: 1, maxSpeakers: 20 };

/** Of items of which none overlap; voices of madeVoices() with noise 0.5 are that alike to themselves. */
const found = (items: readonly Item[], options = OPTIONS, ownLikeness = 0.8): Float32Array[] =>
  voicesOf(items, { seconds: items.reduce((sum, { weight }) => sum + weight, 0), ownLikeness }, options);

/** `count` items of each of so many voices, in any order. */
function conversation(voices: number, count: number, seed: number): { items: Item[]; spoken: number[] } {
  const made = madeVoices(seed);
  const spoken = shuffled(
    seededRandom(seed),
    Array.from({ length: voices * count }, (_, index) => index % voices),
  );
  return { items: spoken.map((voice) => made.item(voice)), spoken };
}

/** Pairs of items that one answer holds for one voice and the other does not. */
function disagreements(one: readonly number[], other: readonly number[]): number {
  let count = 0;
  for (const [first, label] of one.entries())
    for (let second = 0; second < first; second++)
      if ((label === one[second]) !== (other[first] === other[second])) count += 1;
  return count;
}

const labelsOf = (items: readonly Item[], options = OPTIONS): number[] => {
  const voices = found(items, options);
  return items.map(({ vector }) => nearestVoice(vector, voices));
};

describe('The clustering of voices', () => {
  it('joins who is most alike first, by the mean cosine of all pairs, by weight', () => {
    const vectors = [
      [1, 0],
      [0.8, 0.6],
      [0, 1],
    ].map((vector) => Float32Array.from(vector));
    const merges = dendrogram(vectors.map((vector, index) => ({ vector, weight: index === 0 ? 3 : 1 })));
    expect(merges.map(({ first, second }) => [first, second])).to.deep.equal([
      [0, 1],
      [3, 2],
    ]);
    expect(merges[0]?.similarity).to.be.closeTo(0.8, 1e-6);
    // (3 x 0 + 1 x 0.6) / 4
    expect(merges[1]?.similarity).to.be.closeTo(0.15, 1e-6);
    expect(cutAfter(merges, 0, 3)).to.deep.equal([0, 1, 2]);
    expect(cutAfter(merges, 1, 3)).to.deep.equal([0, 0, 1]);
    expect(cutAfter(merges, 2, 3)).to.deep.equal([0, 0, 0]);
  });

  it('is the same as one that looks at all pairs at every step', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 25 }), fc.integer({ min: 0, max: 1000 }), (count, seed) => {
        const made = madeVoices(seed, 2);
        const items = Array.from({ length: count }, (_, index) => made.item(index % 4, 1 + (index % 3)));
        const merges = dendrogram(items);
        expect(merges).to.have.length(count - 1);
        for (const [index, { similarity }] of merges.entries())
          expect(similarity, `merge ${index}`).to.be.closeTo(slowBest(items, merges.slice(0, index)), 1e-5);
      }),
      { numRuns: 40 },
    );
  });

  for (const voices of [1, 2, 3, 4, 6, 12]) {
    it(`finds ${voices} ${voices === 1 ? 'voice' : 'voices'} and whose each item is, without a given number`, () => {
      const { items, spoken } = conversation(voices, 8, voices);
      expect(found(items)).to.have.length(voices);
      expect(disagreements(labelsOf(items), spoken)).to.equal(0);
    });
  }

  it('keeps to the bounds, and to the given number, whatever the voices are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 19 }),
        fc.integer({ min: 0, max: 100 }),
        (voices, minSpeakers, more, seed) => {
          const { items } = conversation(voices, 6, seed);
          const maxSpeakers = Math.min(20, minSpeakers + more);
          const count = found(items, { ...OPTIONS, minSpeakers, maxSpeakers }).length;
          expect(count).to.be.at.least(Math.min(minSpeakers, items.length));
          expect(count).to.be.at.most(maxSpeakers);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('makes of too many voices the given number, and cuts none of them in two', () => {
    const { items, spoken } = conversation(4, 8, 3);
    const labels = labelsOf(items, { ...OPTIONS, minSpeakers: 2, maxSpeakers: 2 });
    expect(new Set(labels).size).to.equal(2);
    for (const voice of [0, 1, 2, 3])
      expect(new Set(labels.filter((_, index) => spoken[index] === voice)).size).to.equal(1);
  });

  it('does not take a word of somebody else’s for a person, unless their number is given or nobody says more', () => {
    const made = madeVoices(9);
    const items = [...Array.from({ length: 20 }, (_, index) => made.item(index % 2)), made.item(2, 2.9)];
    expect(found(items)).to.have.length(2);
    expect(found(items.slice(-1))).to.have.length(1);
    expect(found(items, { ...OPTIONS, minSeconds: 2.8 })).to.have.length(3);
    expect(found(items, { ...OPTIONS, minSpeakers: 3 })).to.have.length(3);
  });

  it('takes who says little for a person before it takes one voice for two, where a larger number is given', () => {
    const made = madeVoices(11);
    const items = [...Array.from({ length: 10 }, () => made.item(0)), made.item(1, 1.5), made.item(2, 2)];
    const reported = (speakers: number): number[] =>
      labelsOf(items, { ...OPTIONS, minSpeakers: speakers, maxSpeakers: speakers });
    const long = Array<number>(10).fill(0);
    expect(disagreements(reported(2).slice(0, 10), long)).to.equal(0);
    expect(disagreements(reported(3), [...long, 1, 2])).to.equal(0);
  });

  it('finds fewer voices, the more another one has to explain', () => {
    const { items } = conversation(4, 8, 17);
    const counts = [0.1, 0.6, 4, 30].map((threshold) => found(items, { ...OPTIONS, threshold }).length);
    expect(counts).to.deep.equal([...counts].sort((one, other) => other - one));
    expect(counts.at(1)).to.equal(4);
    expect(counts.at(-1)).to.equal(1);
  });

  it('asks more of another voice where the same voice is less alike to itself', () => {
    const { items } = conversation(2, 4, 19);
    const options = { ...OPTIONS, threshold: 1.2 };
    expect(found(items, options, 0.9)).to.have.length(2);
    expect(found(items, options, 0.06)).to.have.length(1);
  });

  it('counts speech in overlapping windows once', () => {
    const made = madeVoices(13, 1.2);
    const items = Array.from({ length: 6 }, () => made.item(0));
    const often = items.flatMap((item) => Array.from({ length: 6 }, () => item));
    expect(voicesOf(often, { seconds: 12, ownLikeness: 0.4 }, OPTIONS)).to.have.length(1);
    // The same, had all of it been said.
    expect(voicesOf(often, { seconds: 72, ownLikeness: 0.4 }, OPTIONS)).to.have.length.above(1);
  });

  it('explains more with every voice more, until all items are voices', () => {
    const { items } = conversation(3, 3, 23);
    const all = [...partitions(items)];
    expect(all.map(({ voices }) => voices.length)).to.deep.equal(items.map((_, index) => index + 1));
    for (const [index, { explained }] of all.entries())
      expect(explained).to.be.at.least((all[index - 1]?.explained ?? 0) - 1e-3);
    expect(all.at(-1)?.explained).to.be.closeTo(18, 1e-4);
  });

  it('finds the same people in whatever order and whatever scale of weights', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 1000 }), (voices, seed) => {
        const { items } = conversation(voices, 5, seed);
        const order = shuffled(
          seededRandom(seed + 1),
          items.map((_, index) => index),
        );
        const there = labelsOf(items);
        const back = labelsOf(order.map((index) => items[index]!));
        const sorted = items.map((_, index) => back[order.indexOf(index)]!);
        expect(disagreements(there, sorted)).to.equal(0);
      }),
      { numRuns: 40 },
    );
  });

  it('does not depend on how noisy the embeddings are', () => {
    // The mean cosine of two items of one voice is 0.96, and 0.4 of a distant microphone.
    for (const noise of [0.2, 1.2])
      for (const voices of [1, 2, 4]) {
        const made = madeVoices(21, noise);
        const items = Array.from({ length: 12 * voices }, (_, index) => made.item(index % voices));
        expect(found(items, OPTIONS, 1 / (1 + noise * noise)), `${voices} voices, noise ${noise}`).to.have.length(
          voices,
        );
      }
  });

  it('knows how alike a voice is to itself from neighbouring speech of one speaker of a window', () => {
    const [own, near, far] = [
      [1, 0],
      [0.8, 0.6],
      [0, 1],
    ].map((vector) => Float32Array.from(vector));
    const likeness = new OwnLikeness();
    // Nothing is known: what is supposed.
    expect(likeness.mean).to.be.closeTo(0.3, 1e-9);
    likeness.add([
      { vector: own!, weight: 3, local: 0 },
      { vector: near!, weight: 2, local: 0 },
      { vector: far!, weight: 9, local: 1 },
    ]);
    // Two seconds of 0.8 beside six of 0.3; the other speaker counts for nothing.
    expect(likeness.mean).to.be.closeTo((6 * 0.3 + 2 * 0.8) / 8, 1e-6);
    for (let window = 0; window < 200; window++)
      likeness.add([own!, far!].map((vector) => ({ vector: vector.map((v) => -v), weight: 9, local: 0 })));
    expect(likeness.mean).to.be.within(0.049, 0.06);
  });

  it('of nothing is nobody', () => {
    expect(found([])).to.deep.equal([]);
    expect(nearestVoice(Float32Array.of(1), [])).to.equal(-1);
  });

  it('holds a few hundred items of a long file, whose voices are the same as of all of them', () => {
    const made = madeVoices(5);
    const condensed = new CondensedItems();
    const items: Item[] = [];
    let most = 0;
    for (let index = 0; index < 6000; index++) {
      const item = made.item(index % 5);
      items.push(item);
      condensed.add(item);
      most = Math.max(most, condensed.items.length);
    }
    expect(most).to.be.at.most(800);
    const weight = condensed.items.reduce((sum, item) => sum + item.weight, 0);
    expect(weight).to.be.closeTo(12_000, 1e-6);
    const voices = found(condensed.items);
    expect(voices).to.have.length(5);
    const labels = items.slice(0, 500).map(({ vector }) => nearestVoice(vector, voices));
    expect(
      disagreements(
        labels,
        labels.map((_, index) => index % 5),
      ),
    ).to.equal(0);
  });

  it('takes vectors that are no numbers for nobody’s, and ends', () => {
    const made = madeVoices(6);
    const odd = new Float32Array(64).fill(NaN);
    const items = [made.item(0), { vector: odd, weight: 2 }, made.item(0), made.item(1), made.item(1)];
    expect(found(items).length).to.be.within(1, 5);
  });
});

/** The greatest mean cosine of two clusters after these merges, by all pairs of their items. */
function slowBest(items: readonly Item[], merges: ReturnType<typeof dendrogram>): number {
  const labels = cutAfter(merges, merges.length, items.length);
  let best = -Infinity;
  for (let one = 0; one <= Math.max(...labels); one++)
    for (let other = 0; other < one; other++) {
      let [sum, weights] = [0, 0];
      for (const [first, a] of items.entries())
        for (const [second, b] of items.entries()) {
          if (labels[first] !== one || labels[second] !== other) continue;
          sum += a.weight * b.weight * scalarProduct(a.vector, b.vector);
          weights += a.weight * b.weight;
        }
      best = Math.max(best, sum / weights);
    }
  return best;
}
