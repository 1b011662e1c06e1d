/** The main file of an engine process. */
import { loadBinding } from '../engine/binding.js';
import { EngineError } from '../engine/native-errors.js';
import { serveEngine } from '../engine/remote/serve-engine.js';
import { loadEngines, type EngineSettings } from './engines.js';
import { UsageError } from './variables.js';

serveEngine(async (settings, { observer, watch }) => {
  try {
    return await loadEngines(settings as EngineSettings, { observer, binding: watch.watch(loadBinding()) });
  } catch (error) {
    // On the channel only an EngineError keeps its type.
    if (error instanceof UsageError) throw new EngineError('invalid_argument', error.message);
    throw error;
  }
});
