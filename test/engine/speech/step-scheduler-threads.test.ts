/** The threads of an encoder's units: those of its lane, and those of idle lanes. */
import { expect } from 'chai';
import { startBatched } from './batched-scenario.js';
import type { Scenario } from './scenario.js';

const UNIT_MS = 50;

const threadsOf = (scene: Scenario, path?: string): number[] =>
  scene.fake.units.filter((unit) => path === undefined || unit.path === path).map(({ threads }) => threads);

/** Of all units that run at the same time. */
function mostThreadsFrom(scene: Scenario, fromMs: number): number {
  const { units } = scene.fake;
  const at = (now: number): number =>
    units.filter(({ atMs }) => atMs <= now && now < atMs + UNIT_MS).reduce((sum, { threads }) => sum + threads, 0);
  return Math.max(
    ...units
      .map(({ atMs }) => atMs)
      .filter((ms) => ms >= fromMs)
      .map(at),
  );
}

describe('StepScheduler: threads', () => {
  it('encodes a window alone on the threads of all lanes', async () => {
    for (const threads of [1, 3]) {
      const scene = await startBatched({ slots: 4, threads, cores: 4 * threads });
      scene.file('clip', 3);
      void scene.send({ path: 'clip' });
      await scene.finish();
      expect(threadsOf(scene)).to.deep.equal(Array<number>(6).fill(4 * threads));
    }
  });

  it('lets a window that comes begin on the threads of its lane, and has the others back after a unit', async () => {
    const scene = await startBatched({ slots: 2, cores: 2 });
    scene.file('first', 3);
    scene.file('second', 3);
    void scene.send({ path: 'first' });
    await scene.clock.run(80);
    void scene.send({ path: 'second', accountId: 'other' });
    await scene.finish();
    expect(threadsOf(scene, 'first').slice(0, 3)).to.deep.equal([2, 2, 1]);
    const [begun] = scene.fake.units.filter(({ path }) => path === 'second');
    expect(begun).to.include({ threads: 1 });
    expect(begun?.atMs).to.be.below(80 + 10);
    expect(mostThreadsFrom(scene, 80 + UNIT_MS)).to.equal(2);
  });

  it('divides idle lanes among the encoders that work, and gives none of them away twice', async () => {
    const scene = await startBatched({ slots: 8, cores: 8 }, { tokens: 1 });
    for (const path of ['a', 'b', 'c']) {
      scene.file(path, 3);
      void scene.send({ path, accountId: path });
    }
    await scene.finish();
    expect(threadsOf(scene).slice(0, 6)).to.deep.equal([8, 1, 1, 3, 3, 2]);
    expect(mostThreadsFrom(scene, UNIT_MS + 10)).to.equal(8);
  });

  it('advances the batch with the help of idle lanes where that is faster, four lanes at most', async () => {
    for (const { slots, gain, expected } of [
      { slots: 2, gain: 1.9, expected: 2 },
      { slots: 8, gain: 1.9, expected: 4 },
      { slots: 2, gain: 0.5, expected: 1 },
      { slots: 1, gain: 1.9, expected: 1 },
    ]) {
      const scene = await startBatched({ slots, cores: slots }, { tokens: 200, gainOfThreads: gain });
      scene.file('clip', 3);
      void scene.send({ path: 'clip' });
      await scene.finish();
      const threads = scene.fake.calls.slice(3).map((call) => call.threads);
      expect(threads.length).to.be.above(10);
      expect(new Set(threads)).to.deep.equal(new Set([expected]));
    }
  });

  it('gives a unit no more threads than there are cores, and on a GPU those of its lane', async () => {
    for (const [cores, devices, expected] of [
      [2, ['cpu'], 2],
      [1, ['cpu'], 1],
      [8, ['cuda:0'], 1],
    ] as const) {
      const scene = await startBatched({ slots: 4, cores, devices }, { devices: [...devices] });
      scene.file('clip', 3);
      void scene.send({ path: 'clip' });
      await scene.finish();
      expect(threadsOf(scene)).to.deep.equal(Array<number>(6).fill(expected));
    }
  });

  it('has let go of the idle lanes that helped when the lanes are limited', async () => {
    const scene = await startBatched({ slots: 2, cores: 2 });
    scene.file('clip', 3);
    void scene.send({ path: 'clip' });
    await scene.clock.run(10);
    let within = false;
    void scene.engine.limitLanes(1).then(() => (within = true));
    await scene.clock.run(20);
    expect(within).to.equal(false);
    await scene.clock.run(60);
    expect(within).to.equal(true);
    await scene.finish();
    expect(threadsOf(scene)).to.deep.equal([2, 1, 1, 1, 1, 1]);
  });

  it('measures the time of all lanes whose threads a window has', async () => {
    const factors: number[] = [];
    for (const cores of [1, 4]) {
      const scene = await startBatched({ slots: 4, cores }, { tokens: 1 });
      for (let n = 0; n < 100; n++) {
        scene.file(`clip-${n}`, 8);
        void scene.send({ path: `clip-${n}` });
        await scene.finish();
      }
      factors.push(scene.engine.stats().realTimeFactor);
    }
    const [ofOne = 0, ofFour = 0] = factors;
    expect(ofFour / ofOne).to.be.within(3.5, 4);
  });
});
