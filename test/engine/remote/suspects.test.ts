import { expect } from 'chai';
import fc from 'fast-check';
import { Suspects } from '../../../src/engine/remote/suspects.js';
import { Mulberry32 } from '../../support/random.js';

/** One request: how many steps of work it has, at which of them it kills its process, if it does. */
interface Item {
  id: number;
  steps: number;
  deadlyAt: number | null;
}

/** Steps of work instead of time: what is in a process advances by turns. */
class World {
  readonly suspects = new Suspects<Item>();
  readonly answered = new Set<number>();
  readonly refused = new Set<number>();
  #serving: Item[];
  #trial: Item[] = [];
  /** Finished for good. */
  readonly #done = new Map<number, number>();

  constructor(
    items: readonly Item[],
    private readonly random: Mulberry32,
  ) {
    this.#serving = [...items];
  }

  get isOver(): boolean {
    return this.#serving.length === 0 && this.#trial.length === 0 && !this.suspects.hasAny(this.#isWaited);
  }

  step(): void {
    const all = [...this.#serving, ...this.#trial];
    const item = all[this.random.below(all.length)];
    if (item !== undefined) this.#work(item);
    this.#beginTrial();
  }

  readonly #isWaited = ({ id }: Item): boolean => !this.answered.has(id) && !this.refused.has(id);

  #work(item: Item): void {
    const done = this.#done.get(item.id) ?? 0;
    if (done === item.deadlyAt) this.#die(item);
    else if (done + 1 >= item.steps) this.#end(item);
    else {
      this.#done.set(item.id, done + 1);
      this.suspects.cameFurther(item);
    }
  }

  #die(item: Item): void {
    if (this.#serving.includes(item)) {
      this.#serving = this.suspects.servingDied(this.#serving);
      return;
    }
    this.#trial = [];
    const guilty = this.suspects.trialDied();
    if (guilty === null) return;
    this.refused.add(guilty.id);
    this.suspects.ended(guilty);
  }

  #end(item: Item): void {
    this.answered.add(item.id);
    this.suspects.ended(item);
    this.#serving = this.#serving.filter((other) => other !== item);
    this.#trial = this.#trial.filter((other) => other !== item);
  }

  #beginTrial(): void {
    if (this.#trial.length > 0) return;
    const batch = this.suspects.next(this.#isWaited);
    if (batch === null) return;
    this.#trial = batch;
  }
}

const ITEM = fc.record({
  steps: fc.integer({ min: 1, max: 6 }),
  deadlyAt: fc.option(fc.nat(5), { freq: 3 }),
});
const items = (specs: { steps: number; deadlyAt: number | null }[]): Item[] =>
  specs.map(({ steps, deadlyAt }, id) => ({
    id,
    steps,
    deadlyAt: deadlyAt === null ? null : deadlyAt % steps,
  }));

const MOST_STEPS = 100_000;

function runOut(world: World): void {
  for (let steps = 0; !world.isOver; steps++) {
    if (steps > MOST_STEPS) throw new Error('It does not come to an end.');
    world.step();
  }
}

describe('Suspects', () => {
  it('are refused if and only if they kill, and all others are answered', () => {
    fc.assert(
      fc.property(fc.array(ITEM, { minLength: 1, maxLength: 40 }), fc.nat(), (specs, seed) => {
        const all = items(specs);
        const world = new World(all, new Mulberry32(seed));
        runOut(world);
        const deadly = all.filter(({ deadlyAt }) => deadlyAt !== null).map(({ id }) => id);
        expect([...world.refused].sort((one, other) => one - other)).to.deep.equal(deadly);
        expect(world.answered.size).to.equal(all.length - deadly.length);
      }),
      { numRuns: 500 },
    );
  });

  it('take some 2 log n trials for one that kills, and it kills the serving process twice', () => {
    for (const count of [1, 2, 3, 16, 64, 256]) {
      const all = items(Array.from({ length: count }, () => ({ steps: 1, deadlyAt: null })));
      all[Math.floor(count / 2)] = { id: Math.floor(count / 2), steps: 1, deadlyAt: 0 };
      // It comes first each time: none has come further when it kills.
      const suspects = new Suspects<Item>();
      const isWaited = (): boolean => true;
      expect(suspects.servingDied(all)).to.have.length(count);
      expect(suspects.servingDied(all)).to.have.length(0);
      let deaths = 0;
      for (let batch = suspects.next(isWaited); batch !== null; batch = suspects.next(isWaited)) {
        const deadly = batch.find(({ deadlyAt }) => deadlyAt !== null);
        if (deadly === undefined) for (const item of batch) suspects.ended(item);
        else {
          deaths += 1;
          const guilty = suspects.trialDied();
          expect(guilty === null || guilty === deadly).to.equal(true);
          expect(guilty === deadly).to.equal(batch.length === 1);
        }
      }
      expect(deaths).to.be.at.most(Math.ceil(Math.log2(count)) + 1);
    }
  });

  it('are none that have come further between two deaths', () => {
    const suspects = new Suspects<string>();
    for (let death = 0; death < 10; death++) {
      expect(suspects.servingDied(['a', 'b']), String(death)).to.deep.equal(death === 0 ? ['a', 'b'] : ['a']);
      suspects.cameFurther('a');
      if (death > 0) {
        expect(suspects.next(() => true)).to.deep.equal(['b']);
        suspects.ended('b');
        suspects.servingDied(['b']);
      }
    }
  });

  it('that come further alone are not refused for a death from outside', () => {
    const suspects = new Suspects<string>();
    suspects.servingDied(['a']);
    suspects.servingDied(['a']);
    expect(suspects.next(() => true)).to.deep.equal(['a']);
    suspects.cameFurther('a');
    expect(suspects.trialDied()).to.equal(null);
    expect(suspects.next(() => true)).to.deep.equal(['a']);
    expect(suspects.trialDied()).to.equal('a');
  });

  it('nobody waits for are not tried', () => {
    const suspects = new Suspects<string>();
    suspects.servingDied(['a', 'b']);
    suspects.servingDied(['a', 'b']);
    expect(suspects.hasAny((item) => item === 'b')).to.equal(true);
    expect(suspects.next((item) => item === 'b')).to.deep.equal(['b']);
    suspects.ended('b');
    expect(suspects.hasAny(() => true)).to.equal(false);
  });
});
