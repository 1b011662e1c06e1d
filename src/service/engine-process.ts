/** The process that the engines run in, where they run in one of their own. */
import { loadBinding } from '../engine/binding.js';
import { EngineError } from '../engine/native-errors.js';
import { serveEngine } from '../engine/remote/serve-engine.js';
import { loadEngines, type EngineSettings } from './engines.js';
import { UsageError } from './variables.js';

serveEngine(async (settings, { observer, watch }) => {
  try {
    return await loadEngines(settings as EngineSettings, { observer, binding: watch.watch(loadBinding()) });
  } catch (error) {
    // Only EngineErrors keep their kind on the way.
    if (error instanceof UsageError) throw new EngineError('invalid_argument', error.message);
    throw error;
  }
});
