import { expect } from 'chai';
import { checkSpoiltModels } from '../../support/onnx-facts-property.js';

const SPOILT = 5000;

describe('What a spoilt ONNX file says of itself', () => {
  it('is read, or refused as no model', () => {
    expect(checkSpoiltModels(SPOILT, 7)).to.be.within(1, SPOILT - 1);
  });
});
