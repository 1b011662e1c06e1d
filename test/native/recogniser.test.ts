import { expect } from 'chai';
import type { RecogniserOptions } from '../../src/engine/binding.js';
import { binding, failure, MODEL } from './support.js';

describe('Addon: Recogniser', () => {
  const wrongOptions: [unknown, string][] = [
    [undefined, 'options must be an object, got nothing.'],
    [{}, 'options.device is required.'],
    [
      { device: 'cpu', accelerator: 'fast' },
      'options.accelerator must be "auto" or "float32" or "off", got "fast".',
    ],
    [{ device: 'cpu', compute: 8 }, 'options.compute must be a string, got 8.'],
  ];
  for (const [options, message] of wrongOptions) {
    it(`says "${message}"`, async () => {
      const error = await failure(binding.loadRecogniser(MODEL, options as RecogniserOptions));
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument', message });
    });
  }
});
