/** Whose windows the SlotScheduler runs next. */
import { expect } from 'chai';
import type { FakeRun } from '../fake-tally.js';
import { Scenario } from './scenario.js';

const MS_PER_SECOND = 100; // of slot time for a second of audio
const WINDOW_MS = 8 * MS_PER_SECOND;

/** Slot time until then, in seconds of audio, of the files whose name begins so. */
function secondsServed(scene: Scenario, prefix: string, untilMs: number): number {
  const servedMs = scene.fake.runs
    .filter((run) => run.path.startsWith(prefix))
    .map((run) => Math.max(0, Math.min(run.endMs ?? untilMs, untilMs) - run.startMs));
  return servedMs.reduce((sum, ms) => sum + ms, 0) / MS_PER_SECOND;
}

function firstStart(runs: FakeRun[]): number {
  return Math.min(...runs.map((run) => run.startMs));
}

describe('SlotScheduler: fairness', () => {
  it('lets an account with 50 requests have no more than an account with one', async () => {
    const scene = await Scenario.start({ slots: 2 });
    for (let n = 0; n < 50; n++) {
      scene.file(`many-${n}`, 80);
      void scene.send({ path: `many-${n}`, accountId: 'many' });
    }
    scene.file('single', 400);
    void scene.send({ path: 'single', accountId: 'single' });
    const untilMs = 24 * WINDOW_MS;
    await scene.clock.run(untilMs);
    const many = secondsServed(scene, 'many', untilMs);
    const single = secondsServed(scene, 'single', untilMs);
    expect(single / many).to.be.within(0.9, 1.1);
  });

  it('shares by audio, not by windows, among accounts with windows of different length', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('eights', 400);
    const short = Array.from({ length: 200 }, (_, n) => ({ startSeconds: n * 2, endSeconds: n * 2 + 2 }));
    scene.file('twos', { seconds: 400, windows: short });
    void scene.send({ path: 'eights', accountId: 'one' });
    void scene.send({ path: 'twos', accountId: 'two' });
    await scene.clock.run(20_000);
    const ratio = secondsServed(scene, 'eights', 20_000) / secondsServed(scene, 'twos', 20_000);
    expect(ratio).to.be.within(0.85, 1.15);
  });

  it('gives nothing extra to an account that was away, or that leaves and comes back', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('steady', 4000);
    void scene.send({ path: 'steady', accountId: 'steady' });
    await scene.clock.run(50_000);
    for (let n = 0; n < 30; n++) scene.file(`late-${n}`, 80);
    const oneAfterAnother = async (): Promise<void> => {
      for (let n = 0; n < 30; n++) await scene.send({ path: `late-${n}`, accountId: 'late' });
    };
    void oneAfterAnother();
    await scene.clock.run(150_000);
    const late = secondsServed(scene, 'late', 150_000);
    expect(late).to.be.within(350, 550); // of the 1000 s that were served since
  });

  it('starts a short clip after at most one window of a long file, whosever it is', async () => {
    for (const accountId of ['one', 'other']) {
      const scene = await Scenario.start({ slots: 2 });
      scene.file('long', 1200);
      scene.file('clip', 3);
      void scene.send({ path: 'long' });
      scene.sendAt(10_050, { path: 'clip', accountId });
      await scene.clock.run(20_000);
      expect(firstStart(scene.fake.runsOf('clip')) - 10_050, accountId).to.be.below(WINDOW_MS + 5);
    }
  });

  it('within an account runs the request with the least audio left first, then the oldest', async () => {
    const scene = await Scenario.start({ slots: 1 });
    const sizes = { a: 40, b: 16, c: 24, d: 16 };
    scene.file('running', 8);
    void scene.send({ path: 'running' });
    await scene.clock.run(50);
    for (const [path, seconds] of Object.entries(sizes)) {
      scene.file(path, seconds);
      void scene.send({ path });
    }
    await scene.finish();
    const order = ['a', 'b', 'c', 'd'].sort((x, y) => scene.outcome(x).endMs - scene.outcome(y).endMs);
    expect(order).to.deep.equal(['b', 'd', 'c', 'a']);
  });

  it('runs what is in the background behind the rest of its account, and beside others as if it were not', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('behind', 80);
    scene.file('before', 56);
    scene.file('other', 80);
    void scene.send({ path: 'behind', background: true });
    scene.sendAt(WINDOW_MS / 2, { path: 'before' });
    scene.sendAt(WINDOW_MS / 2, { path: 'other', accountId: 'two' });
    await scene.finish();
    const order = scene.fake.runs.map(({ path }) => path);
    const own = order.filter((path) => path !== 'other');
    expect(own.slice(1, 8), 'though more is left of it').to.deep.equal(Array(7).fill('before'));
    expect(order.slice(1, 17).filter((path) => path === 'other')).to.have.lengthOf(8);
  });

  it('does not starve what is in the background under an endless stream of others of its account', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('behind', 40);
    void scene.send({ path: 'behind', background: true });
    for (let n = 0; n < 60; n++) {
      scene.file(`clip-${n}`, 8);
      scene.sendAt(n * WINDOW_MS * 0.9, { path: `clip-${n}` });
    }
    await scene.clock.run(50 * WINDOW_MS);
    expect(scene.outcomes.has('behind')).to.equal(true);
    expect(scene.outcomes.has('clip-40'), 'the stream goes on').to.equal(true);
  });

  it('does not starve a long file under an endless stream of short ones of the same account', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('long', 80);
    void scene.send({ path: 'long' });
    // Twice as many clips as the slot can take.
    for (let n = 0; n < 400; n++) {
      scene.file(`clip-${n}`, 4);
      scene.sendAt(n * 200 + 100, { path: `clip-${n}` });
    }
    await scene.clock.run(80_000);
    expect(scene.transcript('long').segments).to.have.lengthOf(10);
    // One turn in eight: seven clips of 400 ms between two windows of 800 ms.
    expect(scene.outcome('long').endMs).to.be.below(10 * (7 * 400 + WINDOW_MS) + WINDOW_MS);
  });
});
