/** How the SlotScheduler fills its slots, and how much it keeps in memory for that. */
import { expect } from 'chai';
import { Scenario } from './scenario.js';

const MS_PER_SECOND = 100; // of slot time for a second of audio
const WINDOW_MS = 8 * MS_PER_SECOND;

describe('SlotScheduler', () => {
  it('gives a long file every slot, and joins windows in order though they end out of order', async () => {
    const scene = await Scenario.start({ slots: 4 });
    const windows = [8, 7, 6, 5, 4, 3, 2, 1].map((length, index) => ({
      startSeconds: index * 8,
      endSeconds: index * 8 + length,
      text: `w${index}`,
    }));
    scene.file('long', { seconds: 64, windows });
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(scene.fake.busySlotsPeak).to.equal(4);
    const ends = scene.fake.runsOf('long').map((run) => run.endMs!);
    expect(ends, 'out of order').not.to.deep.equal(ends.toSorted((one, other) => one - other));
    expect(scene.transcript('long').text).to.equal('w0 w1 w2 w3 w4 w5 w6 w7');
    expect(scene.transcript('long').segments.map((segment) => segment.startSeconds)).to.deep.equal(
      windows.map((window) => window.startSeconds),
    );
  });

  it('spreads a file over the slots of all devices', async () => {
    const devices = ['cuda:0', 'cuda:1'];
    const scene = await Scenario.start({ slots: 2, devices }, { devices });
    scene.file('long', 320);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(scene.fake.busySlotsPeak).to.equal(4);
    const onFirst = scene.fake.runs.filter((run) => run.slot.startsWith('cuda:0')).length;
    expect(onFirst).to.be.within(18, 22);
  });

  it('keeps the slots busy: a long file takes its audio divided by the slots', async () => {
    const scene = await Scenario.start({ slots: 2 });
    scene.file('long', 800);
    void scene.send({ path: 'long' });
    await scene.finish();
    const idealMs = (800 * MS_PER_SECOND) / 2;
    expect(scene.outcome('long').endMs).to.be.within(idealMs, idealMs * 1.01);
  });

  it('holds no samples for requests that wait', async () => {
    const scene = await Scenario.start({ slots: 2 });
    for (let n = 0; n < 1000; n++) {
      scene.file(`file-${n}`, 24);
      void scene.send({ path: `file-${n}`, accountId: `account-${n % 100}` });
    }
    await scene.finish();
    expect(scene.outcomes.size).to.equal(1000);
    expect(scene.fake.decodedWindowsPeak).to.be.at.most(2 + 2 * 3);
    expect(scene.fake.decodedWindows).to.equal(0);
    expect(scene.fake.openReaders).to.equal(0);
  });

  it('holds few windows of a long file, however slow the slots are', async () => {
    const scene = await Scenario.start({ slots: 2 });
    scene.file('long', 2400);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(scene.fake.decodedWindowsPeak).to.be.at.most(2 + 3);
  });

  it('bounds the windows it holds when ever shorter requests overtake each other', async () => {
    const scene = await Scenario.start({ slots: 2 });
    for (let n = 0; n < 200; n++) {
      scene.file(`file-${n}`, 1000 - 5 * n);
      scene.sendAt(n * 10, { path: `file-${n}` });
    }
    await scene.clock.run(30_000);
    expect(scene.fake.decodedWindowsPeak).to.be.at.most(2 + 2 * 3);
  });

  it('works on few audio files at once, so that inference never waits for a thread', async () => {
    const scene = await Scenario.start({ slots: 2 }, { measureMs: 100, cutMs: 100 });
    for (let n = 0; n < 50; n++) {
      // Some are cut while others are measured.
      scene.file(`file-${n}`, { seconds: 8, measureSteps: n % 2 === 0 ? 1 : 20 });
      void scene.send({ path: `file-${n}` });
    }
    await scene.finish();
    expect(scene.outcomes.size).to.equal(50);
    expect(scene.fake.audioCallsPeak).to.equal(3);
  });

  it('lets others cut between the steps through long silences', async () => {
    const scene = await Scenario.start({ slots: 1 }, { cutMs: 100 });
    for (let n = 0; n < 5; n++) {
      scene.file(`silent-${n}`, { seconds: 6000, windows: [{ startSeconds: 5990, endSeconds: 5998 }] });
      void scene.send({ path: `silent-${n}`, accountId: `account-${n}` });
    }
    await scene.clock.run(500);
    scene.file('clip', 3);
    void scene.send({ path: 'clip' });
    await scene.finish();
    expect(scene.outcome('clip').endMs).to.be.below(500 + 1500);
    for (let n = 0; n < 5; n++) expect(scene.transcript(`silent-${n}`).text).to.equal('en0');
  });

  it('cuts windows before it measures new files', async () => {
    const scene = await Scenario.start({ slots: 2 }, { measureMs: 100 });
    scene.file('first', 80);
    void scene.send({ path: 'first' });
    await scene.clock.run(210);
    for (let n = 0; n < 30; n++) {
      scene.file(`file-${n}`, { seconds: 8, measureSteps: 20 });
      void scene.send({ path: `file-${n}` });
    }
    await scene.finish();
    // 200 ms to open and measure it, 5 windows on each of two slots, and no wait for 30 files of two seconds'
    // measuring.
    expect(scene.outcome('first').endMs).to.be.below(210 + 5 * WINDOW_MS + 200);
  });
});
