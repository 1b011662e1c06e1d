import { expect } from 'chai';
import { binding, failure, firstWindow, loadModel, MODEL, POLICY, samplePath } from './support.js';

describe('Addon: errors', () => {
  it('are Errors with a code and a message, and can be distinguished from argument errors', async () => {
    const error = await failure(binding.openAudio('/nowhere/clip.wav', POLICY));
    expect(error).to.be.instanceOf(Error).and.not.instanceOf(TypeError);
    expect(error).to.include({ name: 'Error', code: 'io_error' });
    expect(error.message).to.contain('No such file');
  });

  it("of work on another thread carry the caller's stack", async () => {
    const model = await loadModel();
    const slot = await model.createSlot({ threads: 1 });
    const window = await firstWindow(samplePath('en-wav16.wav'));
    async function askedHere(): Promise<unknown> {
      return await slot.transcribe(window, { language: 'xx' });
    }
    const error = await failure(askedHere());
    const [header, first] = error.stack?.split('\n') ?? [];
    expect(header).to.equal(`Error: ${error.message}`);
    expect(first).to.match(/askedHere .*errors\.test\.ts:\d+:\d+/);
    slot.close();
    model.close();
  });

  it('of every asynchronous call carry it', async () => {
    const model = await loadModel();
    const calls = [
      () => binding.openAudio('/nowhere', POLICY),
      () => binding.loadSpeechModel('/nowhere', { device: 'cpu' }),
      () => model.createSlot({ threads: 0 }),
      () => binding.loadSpeechModel(MODEL, { device: 'cuda:63' }),
    ];
    for (const call of calls) expect((await failure(call())).stack).to.contain('errors.test.ts');
    model.close();
  });

  it('survive an Error.prepareStackTrace that gives something else than text', async () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
    Error.prepareStackTrace = (_error, sites) => sites;
    try {
      const error = await failure(binding.openAudio('/nowhere', POLICY));
      expect(error).to.include({ code: 'io_error' });
    } finally {
      if (before === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
      else Object.defineProperty(Error, 'prepareStackTrace', before);
    }
  });
});
