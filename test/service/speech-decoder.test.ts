import { expect } from 'chai';
import { readConfig } from '../../src/service/config.js';
import { AUTO_ON_CPU, AUTO_ON_VULKAN, DEFAULT_BATCH, speechDecoder } from '../../src/service/speech-decoder.js';
import type { EnvironmentVariables } from '../../src/service/variables.js';

function decoder(env: EnvironmentVariables, devices = ['cpu']): ReturnType<typeof speechDecoder> {
  return speechDecoder(readConfig(env, '.'), devices);
}

describe('The speech decoder', () => {
  it('is the one that was chosen for the device, where none is named', () => {
    expect(decoder({})).to.include({ kind: AUTO_ON_CPU });
    expect(decoder({ VERBATIM_SPEECH_DECODER: 'auto' })).to.include({ kind: AUTO_ON_CPU });
    for (const devices of [['cuda:0'], ['cuda:0', 'cuda:1']])
      expect(decoder({}, devices)).to.deep.equal({ kind: 'whisper.cpp' });
    for (const devices of [['vulkan:0'], ['vulkan:software']])
      expect(decoder({}, devices)).to.include({ kind: AUTO_ON_VULKAN });
    expect(decoder({}, ['vulkan:0', 'vulkan:1'])).to.deep.equal({ kind: 'whisper.cpp' });
  });

  it('is the one that is named, in the type and with the windows in flight that are', () => {
    expect(decoder({ VERBATIM_SPEECH_DECODER: 'whisper.cpp' })).to.deep.equal({ kind: 'whisper.cpp' });
    const batched = { VERBATIM_SPEECH_DECODER: 'batched' };
    const plain = { kind: 'batched', compute: 'auto', windowsInFlight: DEFAULT_BATCH };
    expect(decoder(batched)).to.deep.equal(plain);
    expect(decoder(batched, ['cuda:0'])).to.deep.equal(plain);
    const env = { ...batched, VERBATIM_COMPUTE: 'bfloat16', VERBATIM_BATCH: '3' };
    expect(decoder(env)).to.deep.equal({ kind: 'batched', compute: 'bfloat16', windowsInFlight: 3 });
  });

  it('is the one that alone decodes the model, or refused by name', () => {
    const model = { name: 'mine', decoder: 'whisper.cpp' } as const;
    const of = (env: EnvironmentVariables): ReturnType<typeof speechDecoder> =>
      speechDecoder(readConfig(env, '.'), ['cpu'], model);
    expect(of({})).to.deep.equal({ kind: 'whisper.cpp' });
    expect(of({ VERBATIM_SPEECH_DECODER: 'whisper.cpp' })).to.deep.equal({ kind: 'whisper.cpp' });
    expect(() => of({ VERBATIM_SPEECH_DECODER: 'batched' })).to.throw(
      'VERBATIM_SPEECH_DECODER is "batched"; allowed: auto, whisper.cpp for mine.',
    );
    expect(() => of({ VERBATIM_BATCH: '3' })).to.throw('since the speech decoder is whisper.cpp');
    expect(of({ VERBATIM_COMPUTE: 'int8' })).to.deep.equal({ kind: 'whisper.cpp', compute: 'int8' });
    expect(of({ VERBATIM_COMPUTE: 'auto' })).to.deep.equal({ kind: 'whisper.cpp' });
    const off = { VERBATIM_COMPUTE: 'int8', VERBATIM_ACCEL: 'off' };
    expect(() => of(off)).to.throw(
      'VERBATIM_COMPUTE is "int8"; allowed: auto, since the speech decoder is whisper.cpp.',
    );
    const onGpu = (): unknown => speechDecoder(readConfig({ VERBATIM_COMPUTE: 'int8' }, '.'), ['cuda:0'], model);
    expect(onGpu).to.throw('VERBATIM_COMPUTE is "int8"');
  });

  it('is refused by name where it does not work, and so is what it does not take', () => {
    const refused = (env: EnvironmentVariables, devices: string[], message: string): void => {
      expect(() => decoder(env, devices)).to.throw(Error, message);
    };
    const batched = { VERBATIM_SPEECH_DECODER: 'batched' };
    refused(
      batched,
      ['cuda:0', 'cuda:1'],
      'VERBATIM_SPEECH_DECODER is "batched"; allowed: auto, whisper.cpp on cuda:0, cuda:1; batched on one device.',
    );
    for (const [env, devices] of [
      [{}, ['cuda:0']],
      [{ VERBATIM_SPEECH_DECODER: 'whisper.cpp' }, ['cpu']],
    ] as const) {
      refused({ ...env, VERBATIM_COMPUTE: 'int8' }, [...devices], 'VERBATIM_COMPUTE is "int8"');
      refused({ ...env, VERBATIM_BATCH: '4' }, [...devices], 'VERBATIM_BATCH is "4"');
    }
  });
});
