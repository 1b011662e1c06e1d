import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { WindowPolicy } from '../../src/engine/binding.js';
import { samples } from '../support/speech.js';
import { binding, failure, inDirectory, measure, POLICY, samplePath, windowsOf } from './support.js';

describe('Addon: AudioReader', () => {
  for (const sample of samples()) {
    it(`opens, measures and cuts ${sample.file}`, async () => {
      const reader = await binding.openAudio(sample.path, POLICY);
      expect(reader.measuredSeconds).to.equal(0);
      expect(await measure(reader)).to.be.closeTo(sample.seconds, 0.002);
      expect(reader.measuredSeconds).to.be.closeTo(sample.seconds, 0.002);
      expect(reader.positionSeconds).to.equal(0);
      const windows = await windowsOf(reader);
      expect(windows).to.not.be.empty;
      let end = 0;
      for (const window of windows) {
        expect(window.startSeconds).to.be.at.least(end);
        expect(window.endSeconds).to.be.greaterThan(window.startSeconds);
        expect(window.endSeconds - window.startSeconds).to.be.at.most(POLICY.maxSeconds);
        end = window.endSeconds;
      }
      expect(end).to.be.at.most(sample.seconds + 0.01);
      expect(reader.positionSeconds).to.be.closeTo(sample.seconds, 0.01);
      expect(await reader.nextWindow()).to.equal(null);
      reader.close();
    });
  }

  it('says what the file holds', async () => {
    const reader = await binding.openAudio(samplePath('de-wav24-stereo.wav'), POLICY);
    expect(reader.info).to.deep.equal({
      container: 'wav',
      codec: 'pcm_s24',
      sampleRate: 44100,
      channels: 2,
    });
    expect(() => Object.assign(reader, { info: null })).to.throw(TypeError);
    reader.close();
    expect(reader.info.container).to.equal('wav');
  });

  it('rejects with the code of what is wrong with the file', async () => {
    await inDirectory(async (directory) => {
      const write = (name: string, bytes: Uint8Array | string): string => {
        const path = join(directory, name);
        writeFileSync(path, bytes);
        return path;
      };
      const code = async (path: string): Promise<string> => (await failure(binding.openAudio(path, POLICY))).code;
      expect(await code(join(directory, 'missing.wav'))).to.equal('io_error');
      expect(await code(directory)).to.equal('io_error');
      expect(await code(write('text.wav', 'not audio at all, whatever its name says'))).to.equal(
        'unsupported_audio_format',
      );
      expect(await code(write('header.wav', 'RIFF\x24\x00\x00\x00WAVE'))).to.equal('invalid_audio');
    });
  });

  it('rejects a call that overlaps another, and goes on after it', async () => {
    const reader = await binding.openAudio(samplePath('en-vorbis.ogg'), POLICY);
    const first = reader.nextWindow();
    const overlapping = await failure(reader.nextWindow());
    expect(overlapping).to.include({ code: 'invalid_argument' });
    expect(overlapping.message).to.contain('must not overlap');
    expect(await failure(reader.measure())).to.include({ code: 'invalid_argument' });
    expect(await first)
      .to.have.property('startSeconds')
      .that.is.closeTo(0.14, 0.1);
    expect(await reader.nextWindow())
      .to.have.property('startSeconds')
      .that.is.greaterThan(2);
    reader.close();
  });

  it('lets a running call finish when it is closed, and refuses later ones', async () => {
    const reader = await binding.openAudio(samplePath('en-vorbis.ogg'), POLICY);
    const running = reader.nextWindow();
    reader.close();
    reader.close();
    expect(await running).to.have.property('startSeconds');
    const late = await failure(reader.nextWindow());
    expect(late).to.include({ code: 'invalid_argument' });
    expect(late.message).to.contain('AudioReader has been closed');
    expect(reader.positionSeconds).to.be.greaterThan(0);
  });

  const wrongPolicies: [unknown, string][] = [
    [undefined, 'policy must be an object, got nothing.'],
    [8, 'policy must be an object, got 8.'],
    [{ ...POLICY, maxSeconds: '8' }, 'policy.maxSeconds must be a finite number, got "8".'],
    [{ ...POLICY, maxSeconds: NaN }, 'policy.maxSeconds must be a finite number, got NaN.'],
    [{ ...POLICY, cut: 'loudest' }, 'policy.cut must be "quietest" or "pause", got "loudest".'],
    [{ ...POLICY, cut: undefined }, 'policy.cut must be "quietest" or "pause".'],
    [{ ...POLICY, searchSeconds: null }, 'policy.searchSeconds must be a finite number, got null.'],
    [{ ...POLICY, ownLength: 1 }, 'policy.ownLength must be true or false, got 1.'],
    [{ ...POLICY, minPauseSeconds: undefined }, 'policy.minPauseSeconds is required.'],
  ];
  for (const [policy, message] of wrongPolicies) {
    it(`says "${message}"`, async () => {
      const error = await failure(binding.openAudio(samplePath('en-wav16.wav'), policy as WindowPolicy));
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument', message });
    });
  }

  it('leaves the ranges of a policy to the engine', async () => {
    const error = await failure(binding.openAudio(samplePath('en-wav16.wav'), { ...POLICY, maxSeconds: 31 }));
    expect(error).to.include({ code: 'invalid_argument' });
    expect(error.message).to.contain('30');
  });

  it('refuses paths that are none', async () => {
    for (const path of ['', 'a\0b', 7, undefined, Buffer.from('a')]) {
      const error = await failure(binding.openAudio(path as string, POLICY));
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument' });
      expect(error.message).to.match(/^path must /);
    }
  });
});
