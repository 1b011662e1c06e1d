import { expect } from 'chai';
import { nativeError } from '../native-error.js';
import { startBatched } from './batched-scenario.js';

describe('StepScheduler: errors and aborts', () => {
  it('fails the request whose window fails, and goes on with the others and with the same batch', async () => {
    const scene = await startBatched({}, { tokens: 400 });
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

  it('fails the requests in a batch whose step fails, and makes the batch again for the others', async () => {
    const scene = await startBatched();
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

  it('makes an encoder again that fails, and not one that refuses its window', async () => {
    const scene = await startBatched({ slots: 1 });
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
    const scene = await startBatched();
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
    const scene = await startBatched({ slots: 1 });
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
    const scene = await startBatched({}, { tokens: 4000 });
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
    const scene = await startBatched({ slots: 1 }, { tokens: 4000 });
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
      const scene = await startBatched({}, { cutMs: 3, measureMs: 4 });
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
    const scene = await startBatched({ slots: 1 });
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
    const scene = await startBatched();
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
