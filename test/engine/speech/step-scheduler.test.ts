import { expect } from 'chai';
import { aloneMs, BATCHED, ENCODER_MS, startBatched } from './batched-scenario.js';

/** Of 40 steps with one row alone. */
const ALONE_MS = 40 * 2.1;

describe('StepScheduler', () => {
  it('transcribes a file in the order of its windows', async () => {
    const scene = await startBatched();
    scene.file('long', 80);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(scene.transcript('long').text).to.equal('en0 en1 en2 en3 en4 en5 en6 en7 en8 en9');
    expect(scene.fake.windowsInFlight).to.equal(0);
  });

  it('encodes once more what comes back from the batch', async () => {
    const scene = await startBatched();
    scene.file('two', { seconds: 8, windows: [{ startSeconds: 0, endSeconds: 8, passes: 2 }] });
    void scene.send({ path: 'two' });
    await scene.finish();
    expect(scene.fake.units).to.have.length(12);
    expect(scene.transcript('two').text).to.equal('en0');
  });

  it('has nothing to do for a window that is too short to hold anything', async () => {
    const scene = await startBatched({ slots: 1 });
    const windows = [0, 8, 16].map((at) => ({ startSeconds: at, endSeconds: at + 8 }));
    scene.file('file', {
      seconds: 24,
      windows: windows.map((one) => ({ ...one, isTooShort: one.startSeconds !== 8 })),
    });
    void scene.send({ path: 'file' });
    await scene.finish();
    expect(scene.fake.units).to.have.length(6);
    expect(scene.transcript('file').text).to.equal('en0 en1 en2');
    expect(scene.fake.windowsInFlight).to.equal(0);
  });

  it('needs no more time for a clip alone than its work takes', async () => {
    expect(await aloneMs(3)).to.be.within(ENCODER_MS + ALONE_MS, ENCODER_MS + ALONE_MS + 10);
  });

  it('bounds the windows in flight, and the accounts that come beyond the bound', async () => {
    for (const windowsInFlight of [1, 3, 8]) {
      const scene = await startBatched({ slots: 4, decoder: { ...BATCHED, windowsInFlight } }, { tokens: 400 });
      for (let n = 0; n < 30; n++) {
        scene.file(`file-${n}`, 80);
        void scene.send({ path: `file-${n}`, accountId: n < 15 ? 'one' : `account-${n}` });
      }
      await scene.finish();
      expect(scene.fake.windowsInFlightPeak).to.be.within(windowsInFlight, 2 * windowsInFlight);
      expect(scene.outcomes.size).to.equal(30);
    }
  });

  it('keeps an account within the bound', async () => {
    const scene = await startBatched({ slots: 4 }, { tokens: 400 });
    scene.file('long', 1600);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(scene.fake.windowsInFlightPeak).to.equal(8);
  });

  it('holds no samples for requests that wait', async () => {
    const scene = await startBatched();
    for (let n = 0; n < 300; n++) {
      scene.file(`file-${n}`, 24);
      void scene.send({ path: `file-${n}`, accountId: `account-${n % 100}` });
    }
    await scene.finish();
    expect(scene.outcomes.size).to.equal(300);
    expect(scene.fake.decodedWindowsPeak).to.be.at.most(16 + 2 * 3);
    expect(scene.fake).to.include({ decodedWindows: 0, openReaders: 0 });
  });

  it('reports how busy it is, and what each call of the batch did', async () => {
    const rows: number[] = [];
    const observer = {
      windowDone: () => undefined,
      batchAdvanced: (call: { rows: number; steps: number }) => rows.push(call.rows / call.steps),
    };
    const scene = await startBatched({ observer });
    scene.file('long', 160);
    void scene.send({ path: 'long' });
    await scene.clock.run(2000);
    expect(scene.engine.stats()).to.include({ slots: 2, busySlots: 2 });
    expect(scene.engine.stats().windowsInFlight).to.equal(scene.fake.windowsInFlight);
    await scene.finish();
    expect(scene.engine.stats()).to.include({ busySlots: 0, windowsInFlight: 0, queuedWindows: 0 });
    expect(rows).to.have.length(scene.fake.calls.length);
    expect(Math.max(...rows)).to.be.above(3);
  });

  it('measures the real-time factor by the time of the lanes', async () => {
    const scene = await startBatched();
    scene.file('long', 3200);
    void scene.send({ path: 'long' });
    await scene.clock.run(40_000);
    const audio = scene.fake.runs.filter(({ endMs }) => endMs !== null).length * 8;
    const measured = scene.clock.now() / 1000 / audio;
    expect(scene.engine.stats().realTimeFactor / measured).to.be.within(0.8, 1.25);
  });
});
