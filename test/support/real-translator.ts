/** The translation engine on the real addon and the model that ships. */
import { Metrics } from '../../src/http/monitoring/metrics.js';
import { readManifest } from '../../src/models/read-manifest.js';
import { packageRoot } from '../../src/package-root.js';
import { readConfig } from '../../src/service/config.js';
import { createTranslationEngine } from '../../src/service/translation-engine.js';

export type RealTranslator = ReturnType<typeof createTranslationEngine>;

export function loadTranslator(): RealTranslator {
  const config = readConfig({ VERBATIM_DEVICE: 'cpu' }, packageRoot);
  const { modelsDir } = config;
  return createTranslationEngine(config, { packageRoot, modelsDir }, readManifest(packageRoot, modelsDir), {
    observer: new Metrics(),
  });
}
