/** The main file of an engine process. */
import { loadBindingFor } from '../engine/device-binding.js';
import { EngineError } from '../engine/native-errors.js';
import { serveEngine } from '../engine/remote/serve-engine.js';
import { loadEngines, type EngineSettings } from './engines.js';
import { UsageError } from './variables.js';

serveEngine(async (settings, { observer, watch }) => {
  try {
    const { device, config } = settings as EngineSettings;
    const binding = watch.watch(loadBindingFor(device ?? config.deviceSetting));
    return await loadEngines(settings as EngineSettings, { observer, binding });
  } catch (error) {
    // On the channel only an EngineError keeps its type.
    if (error instanceof UsageError) throw new EngineError('invalid_argument', error.message);
    throw error;
  }
});
