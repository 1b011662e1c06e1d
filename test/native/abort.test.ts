import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AudioWindow, NativeCallOptions, Slot, SpeechModel } from '../../src/engine/binding.js';
import { takenUp } from '../support/thread-pool.js';
import {
  ENDLESS_WORK,
  failure,
  firstWindow,
  inDirectory,
  loadModel,
  POLICY,
  samplePath,
  writeLongWav,
} from './support.js';

describe('Addon: abort', () => {
  let model: SpeechModel;
  let slot: Slot;
  let window: AudioWindow;

  before(async () => {
    model = await loadModel();
    slot = await model.createSlot({ threads: 1 });
    window = await inDirectory(async (directory) => {
      const path = join(directory, 'long.wav');
      writeLongWav(path, 10);
      return firstWindow(path, { ...POLICY, cut: 'quietest' });
    });
  });

  after(() => {
    slot.close();
    model.close();
  });

  // How soon is the slow tests' to say; here the work is such that nothing but the abort can end it.
  for (const [when, milliseconds] of Object.entries({ 'at its start': 0, early: 50, late: 400 })) {
    it(`in the middle of a window, ${when}, frees the slot`, async () => {
      const controller = new AbortController();
      const running = failure(slot.transcribe(window, ENDLESS_WORK, { signal: controller.signal }));
      await takenUp();
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      controller.abort();
      expect(await running).to.include({ code: 'aborted' });
      const clip = await firstWindow(samplePath('en-wav16.wav'));
      const { segments } = await slot.transcribe(clip, { language: 'en', ownLength: true });
      expect(segments[0]?.text.trim()).to.equal('Hello Emma, this is Laura.');
    });
  }

  it('before the call rejects at once, without taking the slot', async () => {
    const error = await failure(slot.transcribe(window, ENDLESS_WORK, { signal: AbortSignal.abort() }));
    expect(error).to.include({ code: 'aborted' });
    const clip = await firstWindow(samplePath('en-wav16.wav'));
    const { segments } = await slot.transcribe(clip, { language: 'en', ownLength: true });
    expect(segments).to.have.lengthOf(1);
  });

  it('leaves no listener on the signal, however the call ended', async () => {
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const clip = await firstWindow(samplePath('en-wav16.wav'));
    const running = slot.transcribe(clip, { language: 'en', ownLength: true }, { signal });
    expect(listeners()).to.equal(1);
    await failure(slot.transcribe(clip, { language: 'en' }, { signal }));
    expect(listeners()).to.equal(1);
    await running;
    expect(listeners()).to.equal(0);
    await failure(slot.transcribe(clip, { language: 'xx' }, { signal }));
    expect(listeners()).to.equal(0);
  });

  it('takes nothing for a signal that is none', async () => {
    const calls: unknown[] = [
      7,
      null,
      { signal: {} },
      { signal: 'now' },
      { signal: null },
      { signal: new EventTarget() },
    ];
    for (const call of calls) {
      const error = await failure(slot.transcribe(window, ENDLESS_WORK, call as NativeCallOptions));
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument' });
      expect(error.message).to.match(/^call(\.signal)? must be /);
    }
  });

  it('works without a signal in the call', async () => {
    const clip = await firstWindow(samplePath('en-wav16.wav'));
    for (const call of [undefined, {}]) {
      const { segments } = await slot.transcribe(clip, { language: 'en', ownLength: true }, call);
      expect(segments).to.have.lengthOf(1);
    }
  });
});
