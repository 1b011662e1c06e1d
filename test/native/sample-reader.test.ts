import { expect } from 'chai';
import { samples } from '../support/speech.js';
import { binding, failure, samplePath } from './support.js';

describe('Addon: SampleReader', () => {
  for (const sample of samples()) {
    it(`reads all samples of ${sample.file}, and then none`, async () => {
      const reader = await binding.openSamples(sample.path);
      let [count, loudest] = [0, 0];
      for (let block = await reader.read(7000); block.length > 0; block = await reader.read(7000)) {
        count += block.length;
        for (const value of block) loudest = Math.max(loudest, Math.abs(value));
      }
      expect(count / 16_000).to.be.closeTo(sample.seconds, 0.002);
      expect(loudest).to.be.within(0.05, 1.5);
      expect(await reader.read(7000)).to.have.length(0);
      reader.close();
    });
  }

  it('reads the same samples in blocks of any size', async () => {
    const path = samplePath('en-wav16.wav');
    const [whole, pieces] = [await binding.openSamples(path), await binding.openSamples(path)];
    const wanted = await whole.read(32_000);
    const parts = [await pieces.read(1), await pieces.read(12_345), await pieces.read(19_654)];
    expect(parts.flatMap((part) => [...part])).to.deep.equal([...wanted]);
  });

  it('rejects what is no audio file, and counts out of range', async () => {
    expect(await failure(binding.openSamples('/nowhere'))).to.include({ code: 'io_error' });
    expect(await failure(binding.openSamples(__filename))).to.include({ code: 'unsupported_audio_format' });
    const reader = await binding.openSamples(samplePath('en-wav16.wav'));
    for (const count of [0, -1, 1.5, 160_001, NaN, Infinity]) {
      const { code, message } = await failure(reader.read(count));
      expect(code).to.equal('invalid_argument');
      expect(message).to.contain('count must be an integer from 1 to 160000');
    }
  });

  it('refuses a call that overlaps another, and one after it is closed', async () => {
    const reader = await binding.openSamples(samplePath('en-wav16.wav'));
    const first = reader.read(100);
    expect((await failure(reader.read(100))).message).to.contain('must not overlap');
    reader.close();
    expect(await first).to.have.length(100);
    expect(await failure(reader.read(100))).to.include({ code: 'invalid_argument' });
  });
});
