import { expect } from 'chai';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBinding, type NativeAddon } from '../../src/engine/binding.js';

type Options = Parameters<NativeAddon['writeRandomModel']>[1];

describe('a model of random weights', () => {
  const binding = loadBinding();
  const options: Options = { shape: 'tiny', weights: 'q8_0', textTokens: 2 };
  let directory: string;
  let path: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-random-'));
    path = join(directory, 'model.bin');
  });
  after(() => rmSync(directory, { recursive: true }));

  const refusal = (more: object, where = path): Promise<{ code: string; message: string }> =>
    binding.writeRandomModel(where, { ...options, ...more }).then(
      () => expect.fail('was written'),
      (error: unknown) => error as { code: string; message: string },
    );

  it('has the published shape, but for layers of the encoder that are left out', async () => {
    await binding.writeRandomModel(path, options);
    const whole = statSync(path).size;
    const model = await binding.loadSpeechModel(path, { device: 'cpu' });
    expect(model.info).to.include({ family: 'whisper', type: 'tiny', weightType: 'q8_0' });
    model.close();
    await binding.writeRandomModel(path, { ...options, audioLayers: 1 });
    // A layer of width 384 has 12 x 384^2 weights of 34 bytes for 32.
    expect(whole - statSync(path).size).to.be.within((3 * 12 * 384 ** 2 * 34) / 32, (3 * 12.3 * 384 ** 2 * 34) / 32);
  });

  it('is refused with what is allowed', async () => {
    expect(await refusal({ shape: 'huge' })).to.include({ code: 'invalid_argument' });
    expect((await refusal({ shape: 'huge' })).message).to.contain('base, large-v3-turbo, small, tiny');
    expect(await refusal({ audioLayers: 5 })).to.include({
      code: 'invalid_argument',
      message: 'options.audioLayers is 5; allowed: 1 to 4',
    });
    expect((await refusal({ audioLayers: 0 })).message).to.contain('options.audioLayers is 0');
    expect(await refusal({ audioLayers: -1 })).to.include({ code: 'invalid_argument' });
    expect(await refusal({ textTokens: 0.5 })).to.include({ code: 'invalid_argument' });
    expect(await refusal({ textTokens: 401 })).to.include({ code: 'invalid_argument' });
    expect(await refusal({}, '/dev/full')).to.include({ code: 'io_error', message: '/dev/full cannot be written' });
    expect(await refusal({}, join(directory, 'none', 'model.bin'))).to.include({ code: 'io_error' });
  });
});
