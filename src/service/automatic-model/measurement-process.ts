/** Measures this machine in a separate process, so that the measurement cannot harm requests. */
import { once } from 'node:events';
import type { ModelSpeeds } from '../../models/automatic-model.js';
import type { Config } from '../config.js';
import { lastError, startOwnCommand } from '../own-command.js';
import { setVariables, type Variable } from '../variables.js';
import { readSpeeds } from './speed-file.js';

/** All settings that change the result of the measurement. */
const SETTINGS: readonly Variable[] = [
  'VERBATIM_DATA_DIR',
  'VERBATIM_MODELS_DIR',
  'VERBATIM_DEVICE',
  'VERBATIM_SLOTS',
  'VERBATIM_THREADS',
  'VERBATIM_ACCEL',
  'VERBATIM_SPEECH_DECODER',
  'VERBATIM_COMPUTE',
  'VERBATIM_BATCH',
];

/**
 * Resolves to the stored speeds of this machine, or measures them if there are none. Rejects with a reason for the
 * operator.
 */
export async function speedsOfMachine(config: Config, signal: AbortSignal): Promise<ModelSpeeds> {
  const known = readSpeeds(config);
  if (known !== null) return known;
  const child = startOwnCommand(['models', 'measure', '--json'], setVariables(SETTINGS, process.env));
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const error = lastError(child);
  child.stdout?.resume();
  try {
    await once(child, 'close');
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  const speeds = readSpeeds(config);
  if (speeds === null) throw new Error(`The speed of this machine could not be measured: ${error() ?? 'it broke off'}`);
  return speeds;
}
