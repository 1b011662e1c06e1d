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
    const scene = await Scenario.start({ slots: 2 }, { measureMs: 100 });
    for (let n = 0; n < 50; n++) {
      scene.file(`file-${n}`, { seconds: 8, measureSteps: 5 });
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
    expect(scene.engine.stats().backlogSeconds).to.equal(0);
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
    // 200 ms to open and measure it, 5 windows on each of two slots, and no wait for 30 files of two seconds' measuring.
    expect(scene.outcome('first').endMs).to.be.below(210 + 5 * WINDOW_MS + 200);
  });
});

describe('SlotScheduler: errors and aborts', () => {
  it('fails the request whose window fails, aborts its other windows, and goes on with the others', async () => {
    const scene = await Scenario.start({ slots: 2 });
    scene.file('bad', {
      seconds: 32,
      windows: [
        { startSeconds: 0, endSeconds: 8 },
        { startSeconds: 8, endSeconds: 9, error: 'internal_error' },
        { startSeconds: 16, endSeconds: 24 },
      ],
    });
    scene.file('good', 80);
    void scene.send({ path: 'bad', accountId: 'one' });
    void scene.send({ path: 'good', accountId: 'two' });
    await scene.finish();
    expect(scene.outcome('bad').error).to.include({ name: 'EngineError', code: 'internal_error' });
    expect(scene.transcript('good').segments).to.have.lengthOf(10);
    expect(scene.fake.runsOf('bad').some((run) => run.index === 2 && !run.aborted)).to.equal(false);
    expect(scene.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0, backlogSeconds: 0 });
  });

  it('replaces a slot that failed with an error of the engine, and keeps one that refused its input', async () => {
    const scene = await Scenario.start({ slots: 1 });
    expect(scene.fake.slotsMade).to.equal(1);
    scene.file('refused', {
      seconds: 8,
      windows: [{ startSeconds: 0, endSeconds: 8, error: 'invalid_argument' }],
    });
    void scene.send({ path: 'refused' });
    await scene.finish();
    expect(scene.fake.slotsMade).to.equal(1);
    scene.file('broken', {
      seconds: 8,
      windows: [{ startSeconds: 0, endSeconds: 8, error: 'out_of_memory' }],
    });
    scene.file('next', 16);
    void scene.send({ path: 'broken' });
    void scene.send({ path: 'next' });
    await scene.finish();
    expect(scene.fake.slotsMade).to.equal(2);
    expect([...scene.fake.openSlots]).to.deep.equal(['cpu/2']);
    expect(scene.transcript('next').text).to.equal('en0 en1');
  });

  it('keeps trying to replace a slot while the device has no memory for it', async () => {
    const scene = await Scenario.start({ slots: 1 });
    scene.file('broken', {
      seconds: 8,
      windows: [{ startSeconds: 0, endSeconds: 8, error: 'out_of_memory' }],
    });
    scene.file('next', 8);
    scene.fake.createSlotError = new Error('no memory');
    void scene.send({ path: 'broken' });
    void scene.send({ path: 'next' });
    await scene.clock.run(10_000);
    expect(scene.outcomes.has('next')).to.equal(false);
    scene.fake.createSlotError = null;
    await scene.finish();
    expect(scene.transcript('next').text).to.equal('en0');
  });

  it('frees the slots at once when a request is aborted while it runs', async () => {
    const scene = await Scenario.start({ slots: 2 });
    const cancel = new AbortController();
    const reason = new Error('hung up');
    scene.file('long', 800);
    scene.file('waiting', 16);
    void scene.send({ path: 'long', signal: cancel.signal });
    await scene.clock.run(5000);
    scene.file('waiting', 1600);
    void scene.send({ path: 'waiting' });
    await scene.clock.run(5100);
    cancel.abort(reason);
    await scene.clock.run(5110);
    expect(scene.outcome('long').error).to.equal(reason);
    expect(scene.outcome('long').endMs).to.equal(5100);
    const running = scene.fake.runs.filter((run) => run.endMs === null);
    expect(running.map((run) => run.path)).to.deep.equal(['waiting', 'waiting']);
    expect(scene.engine.stats().backlogSeconds).to.be.at.most(1600);
    expect(scene.fake.decodedWindowsByPath.get('long')).to.equal(0);
  });

  it('drops the windows of a request that is aborted while it waits before they reach a slot', async () => {
    const scene = await Scenario.start({ slots: 1 });
    const cancel = new AbortController();
    scene.file('running', 8);
    scene.file('waiting', 80);
    void scene.send({ path: 'running', accountId: 'one' });
    await scene.clock.run(20);
    void scene.send({ path: 'waiting', accountId: 'two', signal: cancel.signal });
    await scene.clock.run(100);
    expect(scene.fake.decodedWindowsByPath.get('waiting'), 'cut ahead').to.be.within(1, 2);
    cancel.abort();
    await scene.finish();
    expect(scene.fake.runsOf('waiting')).to.be.empty;
    expect(scene.fake.decodedWindows).to.equal(0);
    expect(scene.fake.openReaders).to.equal(0);
    expect(scene.outcome('waiting').error).to.equal(cancel.signal.reason);
  });

  it('survives an abort while a window is being cut, and closes the reader after the call', async () => {
    const scene = await Scenario.start({ slots: 1 }, { cutMs: 50 });
    const cancel = new AbortController();
    scene.file('file', 80);
    void scene.send({ path: 'file', signal: cancel.signal });
    await scene.clock.run(20);
    cancel.abort();
    await scene.clock.run(25);
    expect(scene.outcome('file').error).to.equal(cancel.signal.reason);
    await scene.finish();
    expect(scene.fake).to.include({ openReaders: 0, decodedWindows: 0 });
    expect(scene.fake.runs).to.be.empty;
  });

  it('survives an abort while the file is being measured, and at any other moment', async () => {
    for (let atMs = 0; atMs < 40; atMs++) {
      const scene = await Scenario.start(
        { slots: 2 },
        { cutMs: 3, measureMs: 4, msPerSecond: 1, abortMs: 1 },
      );
      const cancel = new AbortController();
      scene.file('file', { seconds: 64, measureSteps: 3 });
      void scene.send({ path: 'file', signal: cancel.signal });
      await scene.clock.run(atMs);
      cancel.abort();
      await scene.finish();
      expect(scene.outcome('file').error, `at ${atMs}`).to.equal(cancel.signal.reason);
      expect(scene.fake, `at ${atMs}`).to.include({ openReaders: 0, decodedWindows: 0, busySlots: 0 });
      expect(scene.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0, backlogSeconds: 0 });
    }
  });

  it('refuses a signal that is aborted already', async () => {
    const scene = await Scenario.start();
    scene.file('file', 8);
    void scene.send({ path: 'file', signal: AbortSignal.abort(new Error('before')) });
    await scene.finish();
    expect(scene.outcome('file').error).to.have.property('message', 'before');
    expect(scene.fake.openReaders).to.equal(0);
  });
});
