import { expect } from 'chai';
import type { SpeechDecoder } from '../../../src/engine/speech/speech-models.js';
import type { SpeechEngineOptions } from '../../../src/engine/speech/transcriber.js';
import type { FakeSettings } from '../fake-tally.js';
import { nativeError } from '../native-error.js';
import { Scenario } from './scenario.js';

const BATCHED: SpeechDecoder = { kind: 'batched', compute: 'auto', windowsInFlight: 8 };
/** Of the fake's encoder: six units of 50 ms. */
const ENCODER_MS = 300;
/** Of 40 steps with one row alone. */
const ALONE_MS = 40 * 2.1;

/** As many tokens a window as speech has. */
const TALKATIVE = { tokens: 96 };
/** Of a window of so many, four rows a step. */
const TALKATIVE_MS = ENCODER_MS + (96 * (1.3 + 4 * 0.8)) / 4;

function start(
  options: Partial<SpeechEngineOptions> = {},
  settings: Partial<FakeSettings> = {},
): Promise<Scenario> {
  return Scenario.start({ decoder: BATCHED, slots: 2, ...options }, settings);
}

function rowsAStep({ fake }: Scenario, fromMs = 0): number {
  const calls = fake.calls.filter(({ atMs }) => atMs >= fromMs);
  const total = (of: 'rows' | 'steps'): number => calls.reduce((sum, call) => sum + call[of], 0);
  return total('rows') / total('steps');
}

/** From its sending to its text, of a clip alone. */
async function aloneMs(seconds: number, settings: Partial<FakeSettings> = {}): Promise<number> {
  const scene = await start({}, settings);
  scene.file('clip', seconds);
  void scene.send({ path: 'clip' });
  await scene.finish();
  return scene.outcome('clip').endMs;
}

describe('StepScheduler', () => {
  it('transcribes a file in the order of its windows', async () => {
    const scene = await start();
    scene.file('long', 80);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(scene.transcript('long').text).to.equal('en0 en1 en2 en3 en4 en5 en6 en7 en8 en9');
    expect(scene.fake.windowsInFlight).to.equal(0);
  });

  it('encodes once more what comes back from the batch', async () => {
    const scene = await start();
    scene.file('two', { seconds: 8, windows: [{ startSeconds: 0, endSeconds: 8, passes: 2 }] });
    void scene.send({ path: 'two' });
    await scene.finish();
    expect(scene.fake.units).to.have.length(12);
    expect(scene.transcript('two').text).to.equal('en0');
  });

  it('has nothing to do for a window that is too short to hold anything', async () => {
    const scene = await start({ slots: 1 });
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

  it('decodes the windows of all accounts together, many rows a step under load', async () => {
    const scene = await start({}, TALKATIVE);
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
    const scene = await start({}, TALKATIVE);
    scene.file('long', 800);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(rowsAStep(scene)).to.be.above(4);
    expect(scene.clock.now()).to.be.below((1.05 * 100 * TALKATIVE_MS) / 2);
  });

  it('bounds the windows in flight, and the accounts that come beyond the bound', async () => {
    for (const windowsInFlight of [1, 3, 8]) {
      const scene = await start({ slots: 4, decoder: { ...BATCHED, windowsInFlight } }, { tokens: 400 });
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
    const scene = await start({ slots: 4 }, { tokens: 400 });
    scene.file('long', 1600);
    void scene.send({ path: 'long' });
    await scene.finish();
    expect(scene.fake.windowsInFlightPeak).to.equal(8);
  });

  it('takes up a clip after one unit of whatever runs and a call of the batch, whosever it is, with any number of lanes', async () => {
    for (const slots of [1, 2, 4]) {
      for (const accountId of ['one', 'other']) {
        for (let atMs = 5000; atMs < 5400; atMs += 37) {
          const scene = await start({ slots });
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
      const scene = await start({}, TALKATIVE);
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
    const scene = await start({}, { tokens: 4000 });
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
    const scene = await start();
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
      const scene = await start({ slots: 1 });
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
      expect(ofLong, `${accounts} accounts, ${done.length} windows`).to.be.at.least(
        Math.floor(turns / 8) - 1,
      );
    }
  });

  it('holds no samples for requests that wait', async () => {
    const scene = await start();
    for (let n = 0; n < 300; n++) {
      scene.file(`file-${n}`, 24);
      void scene.send({ path: `file-${n}`, accountId: `account-${n % 100}` });
    }
    await scene.finish();
    expect(scene.outcomes.size).to.equal(300);
    expect(scene.fake.decodedWindowsPeak).to.be.at.most(16 + 2 * 3);
    expect(scene.fake).to.include({ decodedWindows: 0, openReaders: 0 });
  });

  it('tells how busy it is, and what each call of the batch did', async () => {
    const rows: number[] = [];
    const observer = {
      windowDone: () => undefined,
      batchAdvanced: (call: { rows: number; steps: number }) => rows.push(call.rows / call.steps),
    };
    const scene = await start({ observer });
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
    const scene = await start();
    scene.file('long', 3200);
    void scene.send({ path: 'long' });
    await scene.clock.run(40_000);
    const audio = scene.fake.runs.filter(({ endMs }) => endMs !== null).length * 8;
    const measured = scene.clock.now() / 1000 / audio;
    expect(scene.engine.stats().realTimeFactor / measured).to.be.within(0.8, 1.25);
  });
});

describe('StepScheduler: errors and aborts', () => {
  it('fails the request whose window fails, and goes on with the others and with the same batch', async () => {
    const scene = await start({}, { tokens: 400 });
    const windows = [0, 8, 16].map((at) => ({ startSeconds: at, endSeconds: at + 8, tokens: 20 }));
    scene.file('bad', {
      seconds: 24,
      windows: [windows[0]!, { ...windows[1]!, error: 'internal_error' }, windows[2]!],
    });
    scene.file('good', 80);
    void scene.send({ path: 'bad', accountId: 'one' });
    void scene.send({ path: 'good', accountId: 'two' });
    await scene.finish();
    expect(scene.outcome('bad').error).to.include({ name: 'EngineError', code: 'internal_error' });
    expect(scene.transcript('good').segments).to.have.length(10);
    expect(scene.fake).to.include({ batchesMade: 1, encodersMade: 2, windowsInFlight: 0 });
  });

  it('fails the requests in a batch whose step fails, and makes the batch anew for the others', async () => {
    const scene = await start();
    scene.file('one', 8);
    scene.file('two', 8);
    void scene.send({ path: 'one', accountId: 'one' });
    void scene.send({ path: 'two', accountId: 'two' });
    await scene.clock.run(310);
    scene.fake.failNext('decode', nativeError('out_of_memory'));
    scene.file('next', 16);
    void scene.send({ path: 'next', accountId: 'three' });
    await scene.finish();
    for (const path of ['one', 'two'])
      expect(scene.outcome(path).error, path).to.include({ name: 'EngineError', code: 'out_of_memory' });
    expect(scene.transcript('next').text).to.equal('en0 en1');
    expect(scene.fake).to.include({ batchesMade: 2, openBatches: 1, windowsInFlight: 0 });
  });

  it('makes an encoder anew that fails, and not one that refuses its window', async () => {
    const scene = await start({ slots: 1 });
    for (const [code, made] of [
      ['invalid_argument', 1],
      ['out_of_memory', 2],
      ['internal_error', 3],
    ] as const) {
      scene.fake.failNext('encode', nativeError(code));
      scene.file(code, 8);
      void scene.send({ path: code });
      await scene.finish();
      expect(scene.outcome(code).error).to.include({ code });
      expect(scene.fake).to.include({ encodersMade: made, openEncoders: 1 });
    }
    scene.file('next', 8);
    void scene.send({ path: 'next' });
    await scene.finish();
    expect(scene.transcript('next').text).to.equal('en0');
  });

  it('encodes while there is no memory for a batch, and decodes when there is', async () => {
    const scene = await start();
    scene.file('first', 8);
    void scene.send({ path: 'first' });
    await scene.clock.run(310);
    scene.fake.failNext('decode', nativeError('out_of_memory'));
    scene.fake.createBatchError = nativeError('out_of_memory');
    await scene.clock.run(1000);
    scene.file('next', 24);
    void scene.send({ path: 'next' });
    await scene.clock.run(20_000);
    expect(scene.fake.units.filter(({ path }) => path === 'next')).to.have.length(18);
    expect(scene.outcomes.has('next')).to.equal(false);
    scene.fake.createBatchError = null;
    await scene.finish();
    expect(scene.transcript('next').text).to.equal('en0 en1 en2');
  });

  it('decodes while there is no memory for an encoder, and encodes when there is', async () => {
    const scene = await start({ slots: 1 });
    scene.file('first', 8);
    void scene.send({ path: 'first', accountId: 'one' });
    await scene.clock.run(310);
    scene.fake.createEncoderError = nativeError('out_of_memory');
    scene.fake.failNext('encode', nativeError('out_of_memory'));
    scene.file('second', 8);
    scene.file('third', 8);
    void scene.send({ path: 'second', accountId: 'two' });
    void scene.send({ path: 'third', accountId: 'three' });
    await scene.clock.run(10_000);
    expect(scene.transcript('first').text).to.equal('en0');
    expect([...scene.outcomes.keys()]).to.have.length(2);
    scene.fake.createEncoderError = null;
    await scene.finish();
    expect(scene.outcomes.size).to.equal(3);
    expect(scene.fake.openEncoders).to.equal(1);
  });

  it('has the rows of an aborted request gone at the next step, and answers at once', async () => {
    const scene = await start({}, { tokens: 4000 });
    const cancel = new AbortController();
    scene.file('long', 800);
    void scene.send({ path: 'long', signal: cancel.signal });
    await scene.clock.run(5000);
    expect(scene.engine.stats().windowsInFlight).to.equal(8);
    cancel.abort(new Error('hung up'));
    await scene.clock.run(5001);
    expect(scene.outcome('long').error).to.equal(cancel.signal.reason);
    expect(scene.outcome('long').endMs).to.equal(5000);
    // A call of the batch and a unit of an encoder at most.
    await scene.clock.run(5060);
    expect(scene.engine.stats()).to.include({ windowsInFlight: 0, busySlots: 0, queuedWindows: 0 });
    expect(scene.fake).to.include({ windowsInFlight: 0, decodedWindows: 0, openReaders: 0 });
  });

  it('takes the rows of an aborted request out of the batch though all lanes have enough to encode', async () => {
    const scene = await start({ slots: 1 }, { tokens: 4000 });
    const cancel = new AbortController();
    scene.file('gone', 8);
    void scene.send({ path: 'gone', signal: cancel.signal, accountId: 'one' });
    await scene.clock.run(400);
    for (let n = 0; n < 8; n++) {
      scene.file(`clip-${n}`, 3);
      void scene.send({ path: `clip-${n}`, accountId: `other-${n}` });
    }
    await scene.clock.run(600);
    cancel.abort();
    await scene.clock.run(600 + 50 + 20);
    expect(scene.fake.runsOf('gone')[0]).to.include({ aborted: true });
    expect(scene.fake.runsOf('gone')[0]?.endMs).to.be.a('number');
    const inFlight = scene.fake.runs.filter(({ endMs }) => endMs === null).map(({ path }) => path);
    expect(inFlight).not.to.include('gone');
  });

  it('survives an abort at any moment, and holds nothing afterwards', async () => {
    for (let atMs = 0; atMs < 700; atMs += 7) {
      const scene = await start({}, { cutMs: 3, measureMs: 4 });
      const cancel = new AbortController();
      scene.file('file', { seconds: 64, measureSteps: 3 });
      scene.file('other', 16);
      void scene.send({ path: 'file', signal: cancel.signal, accountId: 'one' });
      void scene.send({ path: 'other', accountId: 'two' });
      await scene.clock.run(atMs);
      cancel.abort();
      await scene.finish();
      expect(scene.outcome('file').error, `at ${atMs}`).to.equal(cancel.signal.reason);
      expect(scene.transcript('other').text).to.equal('en0 en1');
      const nothing = { openReaders: 0, decodedWindows: 0, busySlots: 0, windowsInFlight: 0 };
      expect(scene.fake, `at ${atMs}`).to.include(nothing);
    }
  });

  it('fails a request whose window cannot be opened, and leaves the lane to the next', async () => {
    const scene = await start({ slots: 1 });
    scene.fake.openWindowError = nativeError('invalid_argument');
    scene.file('refused', 8);
    void scene.send({ path: 'refused' });
    await scene.finish();
    expect(scene.outcome('refused').error).to.include({ code: 'invalid_argument' });
    scene.fake.openWindowError = null;
    scene.file('next', 8);
    void scene.send({ path: 'next' });
    await scene.finish();
    expect(scene.transcript('next').text).to.equal('en0');
  });

  it('drains before it closes, and frees everything', async () => {
    const scene = await start();
    scene.file('running', 80);
    void scene.send({ path: 'running' });
    await scene.clock.run(700);
    const closing = scene.engine.close();
    void scene.send({ path: 'late' });
    await scene.finish();
    await closing;
    expect(scene.outcome('late').error).to.include({ code: 'shutting_down' });
    expect(scene.transcript('running').segments).to.have.length(10);
    expect(scene.fake).to.include({ openModels: 0, openEncoders: 0, openBatches: 0, windowsInFlight: 0 });
    expect(scene.fake.heldBytes()).to.equal(0);
  });
});
