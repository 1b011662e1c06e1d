import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  nearestVoice,
  normalized,
  voicesOf,
  type ClusteringOptions,
} from '../../../src/engine/speakers/clustering.js';
import { CondensedItems } from '../../../src/engine/speakers/condensed-items.js';
import { cutAfter, dendrogram, scalarProduct, type Item } from '../../../src/engine/speakers/dendrogram.js';
import { ClusterPairs, likenesses } from '../../../src/engine/speakers/likeness.js';
import { shuffled, seededRandom } from '../../../bench/load/random.js';
import { madeVoices } from './made-voices.js';

const OPTIONS: ClusteringOptions = { threshold: 0.6, minSeconds: 3, minSpeakers: 1, maxSpeakers: 20 };

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
  const voices = voicesOf(items, options);
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
      { seed: 14, numRuns: 40 },
    );
  });

  for (const voices of [1, 2, 3, 4, 6, 12]) {
    it(`finds ${voices} ${voices === 1 ? 'voice' : 'voices'} and whose each item is, without being told`, () => {
      const { items, spoken } = conversation(voices, 8, voices);
      expect(voicesOf(items, OPTIONS)).to.have.length(voices);
      expect(disagreements(labelsOf(items), spoken)).to.equal(0);
    });
  }

  it('keeps to the bounds, and to what was told, whatever the voices are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 19 }),
        fc.integer({ min: 0, max: 100 }),
        (voices, minSpeakers, more, seed) => {
          const { items } = conversation(voices, 6, seed);
          const maxSpeakers = Math.min(20, minSpeakers + more);
          const found = voicesOf(items, { ...OPTIONS, minSpeakers, maxSpeakers }).length;
          expect(found).to.be.at.least(Math.min(minSpeakers, items.length));
          expect(found).to.be.at.most(maxSpeakers);
        },
      ),
      { seed: 14, numRuns: 60 },
    );
  });

  it('makes of too many voices the fewer that are told by joining the most alike', () => {
    const { items, spoken } = conversation(4, 8, 3);
    const labels = labelsOf(items, { ...OPTIONS, minSpeakers: 2, maxSpeakers: 2 });
    expect(new Set(labels).size).to.equal(2);
    // Whoever is one voice stays one voice.
    for (const voice of [0, 1, 2, 3])
      expect(new Set(labels.filter((_, index) => spoken[index] === voice)).size).to.equal(1);
  });

  it('does not take a word of somebody else’s for a person, unless it is told how many there are or nobody says more', () => {
    const made = madeVoices(9);
    const items = [...Array.from({ length: 10 }, (_, index) => made.item(index % 2)), made.item(2, 1)];
    expect(voicesOf(items, OPTIONS)).to.have.length(2);
    expect(voicesOf(items.slice(-1), OPTIONS)).to.have.length(1);
    expect(voicesOf(items, { ...OPTIONS, minSeconds: 0.5 })).to.have.length(3);
  });

  it('takes who says little for a person before it takes one voice for two, where more are told', () => {
    const made = madeVoices(11);
    const items = [...Array.from({ length: 10 }, () => made.item(0)), made.item(1, 0.5), made.item(2, 1)];
    const told = (speakers: number): number[] =>
      labelsOf(items, { ...OPTIONS, minSpeakers: speakers, maxSpeakers: speakers });
    const long = Array<number>(10).fill(0);
    expect(disagreements(told(2).slice(0, 10), long)).to.equal(0);
    expect(told(2)[11]).not.to.equal(told(2)[0]);
    expect(disagreements(told(3), [...long, 1, 2])).to.equal(0);
  });

  it('knows of a joined item what it knew of its parts', () => {
    const made = madeVoices(24, 1);
    const items = Array.from({ length: 400 }, (_, index): Item => ({
      ...made.item(index % 2),
      place: 2.5 * index,
    }));
    const condensed = new CondensedItems();
    for (const item of items) condensed.add(item);
    expect(condensed.items.length).to.be.below(items.length);
    const last = (all: readonly Item[]): number => likenesses(all, dendrogram(all)).at(-1)!;
    // But for pairs of which one of the windows overlaps the other's first.
    expect(last(condensed.items)).to.be.closeTo(last(items), 0.03);
  });

  it('hears the same people in whatever order and whatever scale of weights', () => {
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
      { seed: 14, numRuns: 40 },
    );
  });

  it('does not depend on how noisy the embeddings are', () => {
    // The mean cosine of two items of one voice is about 1 / (1 + noise squared): 0.96, and 0.4 of a distant microphone.
    for (const noise of [0.2, 1.2])
      for (const voices of [1, 2, 4]) {
        const made = madeVoices(21, noise);
        const items = Array.from({ length: 12 * voices }, (_, index) => made.item(index % voices));
        expect(voicesOf(items, OPTIONS), `${voices} voices, noise ${noise}`).to.have.length(voices);
      }
  });

  it('hears two voices that are alike, as far as each is alike to itself', () => {
    const made = madeVoices(22, 0.2);
    // A third of both is common: a mean cosine of about 0.5.
    const items = Array.from({ length: 24 }, (_, index): Item => {
      const [own, common] = [made.item(index % 2).vector, made.item(2).vector];
      return { vector: normalized(own.map((value, place) => value + 1.0 * common[place]!)), weight: 2 };
    });
    expect(scalarProduct(items[0]!.vector, items[1]!.vector)).to.be.within(0.4, 0.6);
    expect(voicesOf(items, OPTIONS)).to.have.length(2);
  });

  it('does not take the same sound, heard in windows that overlap, for a voice that is alike to itself', () => {
    const pairs = (places: readonly number[]): number => {
      const made = madeVoices(23, 1);
      const [one, other] = [made.item(0), made.item(0)];
      const items = [...places.map((place): Item => ({ ...one, place })), { ...other, place: 200 }];
      const clusters = new ClusterPairs(items);
      for (let row = 1; row < places.length; row++) clusters.join(0, row);
      return clusters.likeness(0, places.length);
    };
    // The same item at other places is a voice that never changes, to which the other one is less alike.
    expect(pairs([0, 2.5, 5, 7.5])).to.be.above(pairs([0, 20, 40, 60]) + 0.1);
  });

  it('of nothing is nobody', () => {
    expect(voicesOf([], OPTIONS)).to.deep.equal([]);
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
    const voices = voicesOf(condensed.items, OPTIONS);
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
    expect(voicesOf(items, OPTIONS).length).to.be.within(1, 5);
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
