import { expect } from 'chai';
import { loadBinding } from '../../../src/engine/binding.js';
import { loadEngine } from '../../../src/service/speech-engine.js';
import { packageRoot } from '../../../src/package-root.js';
import { readConfig } from '../../../src/service/config.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { FakeBinding } from '../fake-binding.js';
import { FakeClock } from '../fake-clock.js';
import { Scenario } from './scenario.js';
import type { SpeechEngineOptions } from '../../../src/engine/speech/transcriber.js';
import { transcribeWith } from '../../support/real-engine.js';
import { samples } from '../../support/speech.js';

function load(accelerator: string, compute = ''): Promise<SpeechEngine> {
  const environment = {
    ...{ VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1' },
    ...{ VERBATIM_ACCEL: accelerator, VERBATIM_COMPUTE: compute },
  };
  const config = readConfig(environment, packageRoot);
  const roots = { packageRoot, modelsDir: config.modelsDir };
  return loadEngine(config, roots, readManifest(packageRoot, config.modelsDir));
}

describe('the accelerator through the engine', function () {
  this.timeout(60_000);

  it('computes as the settings say, unless it is switched off, and the device says so', async () => {
    const engines = await Promise.all([
      ...[load(''), load('float32'), load('off')],
      ...[load('', 'bfloat16'), load('', 'int8'), load('float32', 'int8')],
    ]);
    const [automatic, float32, off, bfloat16, int8, decoderOnly] = engines.map(({ info }) => info.devices.name);
    await Promise.all(engines.map((engine) => engine.close()));
    expect(off).to.not.contain('onednn');
    expect(automatic).to.equal(bfloat16);
    expect(decoderOnly).to.equal(float32);
    expect(int8?.slice(off?.length)).to.match(/^ \+ int8 kernels \([a-z0-9-]+\)$/);
    if (loadBinding().build.withoutAccelerator !== undefined) {
      expect(float32).to.equal(int8?.replace('int8', 'float32'));
      expect(bfloat16).to.equal(float32);
    } else {
      expect(float32).to.equal(`${off} + onednn float32`);
      expect(bfloat16?.slice(off?.length)).to.match(/^ \+ onednn (bfloat16|float32)$/);
    }
  });

  it('says why there is none, where it would be used', async () => {
    const reason = 'oneDNN 4.0 is not supported';
    const nameOf = async (options: Partial<SpeechEngineOptions>, device = 'cpu'): Promise<string> => {
      const fake = new FakeBinding(new FakeClock(), { devices: [device] });
      fake.build.withoutAccelerator = reason;
      const { engine } = await Scenario.start({ binding: fake, devices: [device], ...options });
      await engine.close();
      return engine.info.devices.name;
    };
    expect(await nameOf({ accelerator: 'auto' })).to.equal(
      `Fake cpu, about four times slower than it could be: ${reason}`,
    );
    expect(await nameOf({ accelerator: 'off' })).to.equal('Fake cpu');
    expect(await nameOf({ accelerator: 'auto' }, 'cuda:0')).to.equal('Fake cuda:0 (0.0 GiB)');
  });

  it('recognises the language of every sample', async () => {
    const engine = await load('auto');
    try {
      for (const { path, language } of samples()) {
        const transcript = await transcribeWith(engine, path);
        expect(transcript.language, path).to.equal(language);
        expect(transcript.text, path).to.not.equal('');
      }
    } finally {
      await engine.close();
    }
  });
});
