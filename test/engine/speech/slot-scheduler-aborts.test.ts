/** Requests of the SlotScheduler that fail or are aborted. */
import { expect } from 'chai';
import { Scenario } from './scenario.js';

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
    expect(scene.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
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
      const scene = await Scenario.start({ slots: 2 }, { cutMs: 3, measureMs: 4, msPerSecond: 1, abortMs: 1 });
      const cancel = new AbortController();
      scene.file('file', { seconds: 64, measureSteps: 3 });
      void scene.send({ path: 'file', signal: cancel.signal });
      await scene.clock.run(atMs);
      cancel.abort();
      await scene.finish();
      expect(scene.outcome('file').error, `at ${atMs}`).to.equal(cancel.signal.reason);
      expect(scene.fake, `at ${atMs}`).to.include({ openReaders: 0, decodedWindows: 0, busySlots: 0 });
      expect(scene.engine.stats()).to.include({ busySlots: 0, queuedWindows: 0 });
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
