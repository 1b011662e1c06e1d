import { expect } from 'chai';
import { loadEngine } from '../../../src/service/speech-engine.js';
import { packageRoot } from '../../../src/package-root.js';
import { readConfig } from '../../../src/service/config.js';
import type { SpeechEngine } from '../../../src/engine/types.js';
import { readManifest } from '../../../src/models/read-manifest.js';
import { transcribeFile } from '../../support/real-engine.js';
import { samples } from '../../support/speech.js';

function load(accelerator: string): Promise<SpeechEngine> {
  const config = readConfig(
    { VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1', VERBATIM_ACCEL: accelerator },
    packageRoot,
  );
  const roots = { packageRoot, modelsDir: config.modelsDir };
  return loadEngine(config, roots, readManifest(packageRoot, config.modelsDir));
}

describe('the accelerator through the engine', function () {
  this.timeout(60_000);

  it('is on unless it is switched off, and the device says so', async () => {
    const engines = await Promise.all([load(''), load('float32'), load('off')]);
    const [fastest, float32, off] = engines.map(({ devices: device }) => device.name);
    await Promise.all(engines.map((engine) => engine.close()));
    expect(off).to.not.contain('onednn');
    // A build without oneDNN has none, whatever is asked for.
    if (fastest === off) expect(float32).to.equal(off);
    else {
      expect(fastest).to.match(/ \+ onednn (bfloat16|float32)$/);
      expect(float32).to.equal(`${off} + onednn float32`);
    }
  });

  it('hears the language of every sample', async () => {
    const engine = await load('auto');
    try {
      for (const { path, language } of samples()) {
        const transcript = await transcribeFile(engine, path);
        expect(transcript.language, path).to.equal(language);
        expect(transcript.text, path).to.not.equal('');
      }
    } finally {
      await engine.close();
    }
  });
});
