import { join } from 'node:path';
import { expect } from 'chai';
import {
  binding,
  collectGarbage,
  failure,
  firstWindow,
  inDirectory,
  loadModel,
  POLICY,
  samplePath,
  windowsOf,
  writeLongWav,
} from './support.js';

describe('Addon: memory', () => {
  beforeEach(async () => {
    await collectGarbage();
    expect(binding.heldBytes()).to.equal(0);
  });

  it('is on the account until it is released', async () => {
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const samplesBytes = Math.round((window.endSeconds - window.startSeconds) * 16000) * 4;
    expect(binding.heldBytes()).to.be.within(samplesBytes, 3 * samplesBytes);
    window.release();
    window.release();
    expect(binding.heldBytes()).to.equal(0);

    const model = await loadModel();
    expect(binding.heldBytes()).to.equal(model.info.memoryBytes);
    const slot = await model.createSlot({ threads: 1 });
    model.close();
    expect(binding.heldBytes()).to.be.at.least(model.info.memoryBytes);
    slot.close();
    slot.close();
    expect(binding.heldBytes()).to.equal(0);
  });

  it('stays on it while work uses it, whatever is closed meanwhile', async () => {
    const model = await loadModel();
    const slot = await model.createSlot({ threads: 1 });
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const held = binding.heldBytes();
    const running = slot.transcribe(window, { language: 'en', ownLength: true });
    for (const handle of [model, slot]) handle.close();
    window.release();
    expect(binding.heldBytes()).to.equal(held);
    await running;
    expect(binding.heldBytes()).to.equal(0);
  });

  it('of handles that JavaScript dropped comes back with the garbage', async () => {
    const drop = async (): Promise<void> => {
      const model = await loadModel();
      const slot = await model.createSlot({ threads: 1 });
      const reader = await binding.openAudio(samplePath('en-vorbis.ogg'), POLICY);
      const [window] = await windowsOf(reader);
      if (window === undefined) throw new Error('No window.');
      await slot.transcribe(window, { language: 'en', ownLength: true });
      await failure(slot.transcribe(window, { language: 'xx' }));
      expect(binding.heldBytes()).to.be.greaterThan(model.info.memoryBytes);
    };
    await drop();
    await collectGarbage();
    expect(binding.heldBytes()).to.equal(0);
  });

  it('of a running call outlives its handles', async () => {
    const start = async (): Promise<{ text: string }> => {
      const model = await loadModel();
      const slot = await model.createSlot({ threads: 1 });
      const window = await firstWindow(samplePath('en-wav16.wav'));
      const running = slot.transcribe(window, { language: 'en', ownLength: true });
      return running.then(({ segments }) => ({ text: segments.map((segment) => segment.text).join('') }));
    };
    const running = start();
    await collectGarbage();
    expect((await running).text).to.contain('Laura');
  });

  it('makes the garbage collector work though the handles are small', async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, 'long.wav');
      writeLongWav(path, 300);
      let cut = 0;
      let peak = 0;
      while (cut < 600e6) {
        const reader = await binding.openAudio(path, { ...POLICY, maxSeconds: 30, cut: 'quietest' });
        for (;;) {
          const window = await reader.nextWindow();
          if (window === null) break;
          if (typeof window === 'string') continue;
          cut += (window.endSeconds - window.startSeconds) * 64000;
          peak = Math.max(peak, binding.heldBytes());
        }
        reader.close();
      }
      expect(peak).to.be.lessThan(250e6);
    });
  });
});
