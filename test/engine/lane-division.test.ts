/** The machine's lanes among models, in virtual time: engines that let go of lanes when a test lets them. */
import { expect } from 'chai';
import { LaneDivision, type LaneUser } from '../../src/engine/lane-division.js';
import { ManualTimers } from '../support/manual-timers.js';
import { setImmediate as settled } from 'node:timers/promises';

const LANES = 4;
const SLICE_MS = 250;

/** Works on as many lanes as it may; a limit holds once its work on the other lanes is let go of. */
class Engine implements LaneUser {
  limit = LANES;
  limits: number[] = [];
  working = 0;
  isHolding = false;
  #waiting: (() => void)[] = [];

  limitLanes(lanes: number): Promise<void> {
    this.limit = lanes;
    this.limits.push(lanes);
    if (!this.isHolding) this.working = Math.min(this.working, lanes);
    return this.working <= lanes ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  letGo(): void {
    this.working = Math.min(this.working, this.limit);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** It takes every lane that it may. */
  work(): void {
    this.working = Math.max(this.working, this.limit);
  }
}

describe('LaneDivision', () => {
  let timers: ManualTimers;
  let now: number;
  let division: LaneDivision;
  let first: Engine;

  beforeEach(() => {
    timers = new ManualTimers();
    now = 0;
    division = new LaneDivision({ lanes: () => LANES, timers, now: () => now });
    first = new Engine();
    division.add(first);
  });

  const added = (): Engine => {
    const engine = new Engine();
    division.add(engine);
    return engine;
  };
  const begin = (model: Engine, accountId: string, seconds: number, background = false) => {
    const left = { seconds };
    return Object.assign(left, division.begin(model, { accountId, background, leftSeconds: () => left.seconds }));
  };
  const pass = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += SLICE_MS) {
      now += SLICE_MS;
      timers.pass(SLICE_MS);
      await settled();
    }
  };

  it('says nothing to a model that is alone, and looks at no clock', () => {
    begin(first, 'a', 3600);
    begin(first, 'b', 3).end();
    expect(first.limits).to.deep.equal([]);
    expect(timers.pending).to.equal(0);
  });

  it('gives all lanes to the one that has work, whichever that is', async () => {
    const second = added();
    expect(second.limit).to.equal(0);
    const work = begin(second, 'a', 3600);
    await settled();
    expect([first.limit, second.limit]).to.deep.equal([0, LANES]);
    work.end();
    begin(first, 'a', 3);
    await settled();
    expect([first.limit, second.limit]).to.deep.equal([LANES, 0]);
    expect(timers.pending).to.equal(0);
  });

  it('halves them between two accounts with long files on two models, however many files either has', async () => {
    const second = added();
    for (let file = 0; file < 5; file++) begin(first, 'many', 3600);
    begin(second, 'one', 3600);
    await settled();
    expect([first.limit, second.limit]).to.deep.equal([2, 2]);
    await pass(20 * SLICE_MS);
    expect([first.limit, second.limit]).to.deep.equal([2, 2]);
  });

  it('gives a clip the one lane that it can use, and the long file the others', async () => {
    const second = added();
    begin(first, 'long', 3600);
    const clip = begin(second, 'short', 3);
    await settled();
    expect([first.limit, second.limit]).to.deep.equal([3, 1]);
    clip.end();
    await settled();
    expect([first.limit, second.limit]).to.deep.equal([LANES, 0]);
  });

  it('shares out by accounts over time, not by models', async () => {
    const second = added();
    begin(first, 'a', 36_000);
    for (const account of ['b', 'c', 'd']) begin(second, account, 36_000);
    const had = { first: 0, second: 0 };
    await settled();
    for (let slice = 0; slice < 40; slice++) {
      had.first += first.limit;
      had.second += second.limit;
      await pass(SLICE_MS);
    }
    expect(had.first / (had.first + had.second)).to.be.within(0.24, 0.26);
  });

  it('leaves no model with work without a lane, though one account has all of it', async () => {
    const others = [added(), added()];
    begin(first, 'a', 3600);
    for (const model of others) begin(model, 'a', 36_000);
    await settled();
    for (let slice = 0; slice < 20; slice++) {
      for (const model of [first, ...others]) expect(model.limit).to.be.at.least(1);
      await pass(SLICE_MS);
    }
  });

  it('lets more models than lanes take turns, each within some slices', async () => {
    const models = [first, ...Array.from({ length: 5 }, added)];
    models.forEach((model, index) => begin(model, `account${index}`, 3600));
    const had = new Map(models.map((model) => [model, 0]));
    await settled();
    for (let slice = 0; slice < 60; slice++) {
      for (const model of models) had.set(model, had.get(model)! + model.limit);
      expect(models.reduce((sum, { limit }) => sum + limit, 0)).to.equal(LANES);
      await pass(SLICE_MS);
    }
    for (const lanes of had.values()) expect(lanes).to.be.within(38, 42);
  });

  it('never has more lanes at work than there are, whatever engines hold on to', async () => {
    const models = [first, added(), added()];
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
    const works: { end: () => void }[] = [];
    for (const model of models) model.isHolding = true;
    for (let step = 0; step < 2000; step++) {
      const deed = random(4);
      if (deed === 0) works.push(begin(models[random(3)]!, `account${random(3)}`, 1 + random(300)));
      else if (deed === 1) works.splice(random(works.length + 1), 1)[0]?.end();
      else if (deed === 2) models[random(3)]!.letGo();
      else await pass(SLICE_MS);
      await settled();
      for (const model of models) model.work();
      expect(models.reduce((sum, { working }) => sum + working, 0)).to.be.at.most(LANES);
    }
    for (const work of works) work.end();
    for (const model of models) model.letGo();
    const last = begin(models[2]!, 'last', 3600);
    for (const model of models) model.letGo();
    await settled();
    expect(models[2]!.limit).to.equal(LANES);
    last.end();
  });

  it('frees what a model had that is gone', async () => {
    const second = added();
    second.isHolding = true;
    begin(second, 'a', 3600);
    await settled();
    second.work();
    begin(first, 'b', 3600);
    await settled();
    expect(first.limit).to.equal(0);
    division.remove(second);
    await settled();
    expect(first.limit).to.equal(LANES);
  });

  it('reports what audio is left, by model', () => {
    const second = added();
    const work = begin(first, 'a', 100);
    begin(first, 'b', 20);
    begin(second, 'b', 5);
    work.seconds = 40;
    expect([...division.leftSeconds()]).to.deep.equal([
      [first, 60],
      [second, 5],
    ]);
  });
});
