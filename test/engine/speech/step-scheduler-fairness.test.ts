import { expect } from 'chai';
import { aloneMs, ENCODER_MS, startBatched, TALKATIVE } from './batched-scenario.js';
import type { Scenario } from './scenario.js';

/** Of a window of so many tokens, four rows a step. */
const TALKATIVE_MS = ENCODER_MS + (96 * (1.3 + 4 * 0.8)) / 4;

function rowsAStep({ fake }: Scenario, fromMs = 0): number {
  const calls = fake.calls.filter(({ atMs }) => atMs >= fromMs);
  const total = (of: 'rows' | 'steps'): number => calls.reduce((sum, call) => sum + call[of], 0);
  return total('rows') / total('steps');
}

describe('StepScheduler: many requests at once', () => {
  it('decodes the windows of all accounts together, many rows a step under load', async () => {
    const scene = await startBatched({}, TALKATIVE);
    for (let n = 0; n < 60; n++) {
      scene.file(`clip-${n}`, 8);
      void scene.send({ path: `clip-${n}`, accountId: `account-${n % 12}` });
    }
    await scene.finish();
    expect(scene.outcomes.size).to.equal(60);
    expect(rowsAStep(scene)).to.be.above(4);
    // The beginning and the end, where a lane has less to do, included.
    expect(scene.clock.now()).to.be.below((1.05 * 60 * TALKATIVE_MS) / 2);
  });

  it('fills the batch of a long file alone, and keeps the lanes busy', async () => {
    const scene = await startBatched({}, TALKATIVE);
    scene.file('long', 800);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(rowsAStep(scene)).to.be.above(4);
    expect(scene.clock.now()).to.be.below((1.05 * 100 * TALKATIVE_MS) / 2);
  });

  it('takes up a clip after one unit of whatever runs and a call of the batch, whosever it is, with any number of lanes', async () => {
    for (const slots of [1, 2, 4]) {
      for (const accountId of ['one', 'other']) {
        for (let atMs = 5000; atMs < 5400; atMs += 37) {
          const scene = await startBatched({ slots });
          scene.file('long', 1200);
          scene.file('clip', 3);
          void scene.send({ path: 'long' });
          scene.sendAt(atMs, { path: 'clip', accountId });
          await scene.clock.run(atMs + 1000);
          const first = scene.fake.units.find(({ path }) => path === 'clip');
          expect(first?.atMs, `${slots} lanes, ${accountId}, ${atMs}`).to.be.at.most(atMs + 3 + 50 + 20);
        }
      }
    }
  });

  it('lets a clip pass a long file of another account at little more than the time of a clip alone', async () => {
    const alone = await aloneMs(3, TALKATIVE);
    for (let atMs = 5000; atMs < 5400; atMs += 37) {
      const scene = await startBatched({}, TALKATIVE);
      scene.file('long', 1200);
      scene.file('clip', 3);
      void scene.send({ path: 'long', accountId: 'long' });
      scene.sendAt(atMs, { path: 'clip', accountId: 'clip' });
      await scene.clock.run(atMs + 5000);
      // Two lanes: one encodes the clip, and the other decodes the rows that it would stand beside.
      expect(scene.outcome('clip').endMs - atMs, `at ${atMs}`).to.be.below(1.35 * alone);
    }
  });

  it('lets a clip in though the windows in flight are all of one account, and at their bound', async () => {
    const scene = await startBatched({}, { tokens: 4000 });
    scene.file('long', 1200);
    scene.file('clip', 3);
    void scene.send({ path: 'long', accountId: 'long' });
    await scene.clock.run(6000);
    expect(scene.engine.stats().windowsInFlight).to.equal(8);
    const before = scene.fake.runsOf('long').filter(({ endMs }) => endMs !== null).length;
    expect(before).to.equal(0);
    void scene.send({ path: 'clip', accountId: 'clip' });
    await scene.clock.run(6100);
    expect(scene.fake.runsOf('clip')).to.have.length(1);
    expect(scene.engine.stats().windowsInFlight).to.equal(9);
  });

  it('gives an account with 50 requests no more than an account with one', async () => {
    const scene = await startBatched();
    for (let n = 0; n < 50; n++) {
      scene.file(`many-${n}`, 80);
      void scene.send({ path: `many-${n}`, accountId: 'many' });
    }
    scene.file('single', 800);
    void scene.send({ path: 'single', accountId: 'single' });
    await scene.clock.run(12_000);
    const done = (prefix: string): number =>
      scene.fake.runs.filter(({ path, endMs }) => path.startsWith(prefix) && endMs !== null).length;
    expect(done('single') / done('many')).to.be.within(0.8, 1.25);
  });

  it('does not starve a long file under an endless stream of clips, of its account or of others', async () => {
    for (const accounts of [1, 5]) {
      const scene = await startBatched({ slots: 1 });
      scene.file('long', 800);
      void scene.send({ path: 'long', accountId: 'account-0' });
      // Half again as many as the lane can take.
      for (let n = 0; n < 400; n++) {
        scene.file(`clip-${n}`, 4);
        scene.sendAt(n * 230 + 100, { path: `clip-${n}`, accountId: `account-${n % accounts}` });
      }
      await scene.clock.run(92_000);
      const done = scene.fake.runs.filter(({ endMs }) => endMs !== null);
      const ofLong = done.filter(({ path }) => path === 'long').length;
      // Of its account's turns one in eight, each with twice a clip's audio.
      const turns = done.length / (accounts + 1 / 8);
      expect(ofLong, `${accounts} accounts, ${done.length} windows`).to.be.at.least(Math.floor(turns / 8) - 1);
    }
  });
});
