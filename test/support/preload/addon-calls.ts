/**
 * Loaded into a server before anything else: notes what it asks of the addon, a line of JSON each, in the file
 * ADDON_CALLS.
 */
import { appendFileSync } from 'node:fs';
import { loadBinding } from '../../../src/engine/binding.js';

export interface AddonCall {
  call: 'loadSpeechModel' | 'createSlot' | 'loadRecogniser' | 'createEncoder' | 'loadTranslationModel';
  options: Readonly<Record<string, unknown>>;
  /** UV_THREADPOOL_SIZE of the process by then. */
  poolSize: string | undefined;
}

export const CALLS_VARIABLE = 'ADDON_CALLS';

const path = process.env[CALLS_VARIABLE];
/** Its engine has a process of its own, which sees no setting. */
const isApart = process.env['VERBATIM_PORT'] !== undefined;
if (path !== undefined && !isApart) noteCalls(path);

function noteCalls(path: string): void {
  const note = (call: AddonCall['call'], options: object): void => {
    const line: AddonCall = { call, options: { ...options }, poolSize: process.env['UV_THREADPOOL_SIZE'] };
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  };
  const binding = loadBinding();
  const loadSpeechModel = binding.loadSpeechModel.bind(binding);
  binding.loadSpeechModel = async (file, options) => {
    note('loadSpeechModel', options);
    const model = await loadSpeechModel(file, options);
    const createSlot = model.createSlot.bind(model);
    return inPlace(model, 'createSlot', (slotOptions: Parameters<typeof createSlot>[0]) => {
      note('createSlot', slotOptions);
      return createSlot(slotOptions);
    });
  };
  const loadRecogniser = binding.loadRecogniser.bind(binding);
  binding.loadRecogniser = async (file, options) => {
    note('loadRecogniser', options);
    const model = await loadRecogniser(file, options);
    const createEncoder = model.createEncoder.bind(model);
    return inPlace(model, 'createEncoder', (encoderOptions: Parameters<typeof createEncoder>[0]) => {
      note('createEncoder', encoderOptions);
      return createEncoder(encoderOptions);
    });
  };
  const loadTranslationModel = binding.loadTranslationModel.bind(binding);
  binding.loadTranslationModel = (directory, options) => {
    note('loadTranslationModel', options);
    return loadTranslationModel(directory, options);
  };
}

/** No proxy: the engine watches calls in the same way, and each would call the other for ever. */
function inPlace<T extends object>(handle: T, name: keyof T, value: unknown): T {
  return Object.defineProperty(handle, name, { value, configurable: true, writable: true });
}
