import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { binding, failure, firstWindow, inDirectory, loadModel, MODEL, samplePath } from './support.js';

describe('Addon: SpeechModel', () => {
  it('describes the model and the device it runs on', async () => {
    const model = await loadModel();
    expect(model.info).to.include({ type: 'custom', weightType: 'q5_1', family: 'whisper', device: 'cpu' });
    expect(model.info.languages).to.include.members(['en', 'es', 'de', 'fr']);
    expect(model.info.deviceName).to.not.equal('');
    expect(model.info.memoryBytes).to.be.within(10e6, 13e6);
    model.close();
  });

  it('describes the build and the devices', () => {
    expect(binding.build.whisper).to.match(/^\d+\.\d+\.\d+/);
    expect(binding.build.cuda).to.be.a('boolean');
    expect(binding.build.compiler).to.match(/^(gcc|clang) \d+/);
    expect(binding.devices()[0]).to.include({ id: 'cpu' });
    expect(binding.devices()[0]?.memoryBytes).to.be.greaterThan(1e8);
  });

  it('keeps slots alive when it is closed before them', async () => {
    const model = await loadModel();
    const slot = await model.createSlot({ threads: 1 });
    const making = model.createSlot({ threads: 1 });
    model.close();
    const window = await firstWindow(samplePath('en-wav16.wav'));
    const { segments } = await slot.transcribe(window, { language: 'en', ownLength: true });
    expect(segments.map((segment) => segment.text).join('')).to.contain('Laura');
    (await making).close();
    slot.close();
    const late = await failure(model.createSlot({ threads: 1 }));
    expect(late).to.include({ code: 'invalid_argument' });
    expect(late.message).to.contain('SpeechModel has been closed');
  });

  it('refuses wrong and truncated files, and goes on working', async () => {
    await inDirectory(async (directory) => {
      const path = join(directory, 'model.bin');
      const load = () => failure(binding.loadSpeechModel(path, { device: 'cpu' }));
      expect(await load()).to.include({ code: 'io_error' });
      writeFileSync(path, 'not a model');
      expect(await load()).to.include({ code: 'invalid_model' });
      writeFileSync(path, readFileSync(MODEL).subarray(0, 1_000_000));
      expect(await load()).to.include({ code: 'invalid_model' });
    });
    (await loadModel()).close();
  });

  it('never falls back from a device that is not there', async () => {
    const load = (device: string) => failure(binding.loadSpeechModel(MODEL, { device }));
    expect(await load('cuda:63')).to.include({ code: 'device_unavailable' });
    expect(await load('gpu')).to.include({ code: 'invalid_argument' });
    expect(await failure(binding.loadSpeechModel(MODEL, {} as { device: string }))).to.include({
      message: 'options.device is required.',
    });
  });

  it('checks the number of threads', async () => {
    const model = await loadModel();
    for (const threads of [0, -1, 257, 1.5, 1e12, NaN, '2', undefined]) {
      const error = await failure(model.createSlot({ threads: threads as number }));
      expect(error).to.include({ code: 'invalid_argument' });
      expect(error.message).to.contain('threads');
    }
    model.close();
  });
});
