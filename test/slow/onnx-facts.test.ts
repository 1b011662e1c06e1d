/** As many spoilt ONNX files as the native readers are given (docs/internals/tests.md, Fuzzing): ONNX_RUNS, a million. */
import { expect } from 'chai';
import { checkSpoiltModels } from '../support/onnx-facts-property.js';

const RUNS = Number(process.env['ONNX_RUNS'] ?? 1_000_000);

describe(`${RUNS} spoilt ONNX files`, () => {
  it('are read, or refused as no models', () => {
    const reported = checkSpoiltModels(RUNS, 1);
    process.stdout.write(`      ${reported} reported\n`);
    expect(reported).to.be.within(1, RUNS - 1);
  });
});
