import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AudioWindow, CallOptions, Slot, SpeechModel } from '../../src/engine/binding.js';
import {
  failure,
  firstWindow,
  inDirectory,
  loadModel,
  LONG_WORK,
  POLICY,
  samplePath,
  writeLongWav,
} from './support.js';

describe('Addon: abort', () => {
  let model: SpeechModel;
  let slot: Slot;
  let window: AudioWindow;

  /** Longest answer to an abort, ms. */
  let limit: number;

  before(async () => {
    model = await loadModel();
    slot = await model.createSlot({ threads: 1 });
    window = await inDirectory(async (directory) => {
      const path = join(directory, 'long.wav');
      writeLongWav(path, 10);
      return firstWindow(path, { ...POLICY, cut: 'quietest' });
    });
    // The one thing that whisper.cpp cannot stop in the middle is the encoder's pass. It takes a tenth of this
    // on an idle machine; where many tests share two cores, it alone can take longer.
    const { timings } = await slot.transcribe(window, { language: 'en', ownLength: true });
    limit = Math.max(500, 3 * (timings.melMs + timings.encodeMs));
  });

  after(() => {
    slot.close();
    model.close();
  });

  it('in the middle of a window frees the slot within 500 ms', async () => {
    for (const delay of [0, 50, 400]) {
      const controller = new AbortController();
      const running = failure(slot.transcribe(window, LONG_WORK, { signal: controller.signal }));
      const winner = await Promise.race([
        running,
        new Promise<'still running'>((resolve) => setTimeout(resolve, delay, 'still running')),
      ]);
      expect(winner).to.equal('still running');
      const start = performance.now();
      controller.abort();
      expect(await running).to.include({ code: 'aborted' });
      expect(performance.now() - start).to.be.lessThan(limit);
      const clip = await firstWindow(samplePath('en-wav16.wav'));
      const { segments } = await slot.transcribe(clip, { language: 'en', ownLength: true });
      expect(segments[0]?.text.trim()).to.equal('Hello Emma, this is Laura.');
    }
  });

  it('before the call rejects at once, without taking the slot', async () => {
    const error = await failure(slot.transcribe(window, LONG_WORK, { signal: AbortSignal.abort() }));
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
      const error = await failure(slot.transcribe(window, LONG_WORK, call as CallOptions));
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
