/** Loaded into a server before anything else: notes what it asks of the addon, a line of JSON each, in the file ADDON_CALLS. */
import { appendFileSync } from 'node:fs';
import { loadBinding } from '../../src/engine/binding.js';
import { overriding } from './overriding.js';

export interface AddonCall {
  call: 'loadSpeechModel' | 'createSlot' | 'loadRecogniser' | 'createEncoder' | 'loadTranslationModel';
  options: Readonly<Record<string, unknown>>;
  /** UV_THREADPOOL_SIZE of the process by then. */
  poolSize: string | undefined;
}

export const CALLS_VARIABLE = 'ADDON_CALLS';

const path = process.env[CALLS_VARIABLE];
if (path !== undefined) noteCalls(path);

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
    return overriding(model, {
      createSlot: (slotOptions) => {
        note('createSlot', slotOptions);
        return model.createSlot(slotOptions);
      },
    });
  };
  const loadRecogniser = binding.loadRecogniser.bind(binding);
  binding.loadRecogniser = async (file, options) => {
    note('loadRecogniser', options);
    const model = await loadRecogniser(file, options);
    return overriding(model, {
      createEncoder: (encoderOptions) => {
        note('createEncoder', encoderOptions);
        return model.createEncoder(encoderOptions);
      },
    });
  };
  const loadTranslationModel = binding.loadTranslationModel.bind(binding);
  binding.loadTranslationModel = (directory, options) => {
    note('loadTranslationModel', options);
    return loadTranslationModel(directory, options);
  };
}
