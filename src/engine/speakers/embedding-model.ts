import { EngineError } from '../native-errors.js';
import { normalized } from './vectors.js';
import { embeddingInput } from './embedding-input.js';
import { integerFact } from './onnx-facts.js';
import type { OnnxModel } from './onnx-model.js';

/** Whose voice it is, as a direction: two are as alike as their cosine. */
export interface EmbeddingModel {
  /** Fewest samples by which a voice is recognised. */
  minSamples: number;
  /** Of length 1. */
  embed(samples: Float32Array): Promise<Float32Array>;
}

const RATE = 16_000;

/** Of any family that embeddingInput() knows. Throws EngineError `invalid_model`. */
export function embeddingModel(model: OnnxModel): EmbeddingModel {
  const { facts } = model;
  integerFact(facts, 'sample_rate', RATE, RATE);
  const size = integerFact(facts, 'output_dim', 8, 4096);
  const minSamples = integerFact(facts, 'min_samples', 160, 10 * RATE, RATE / 2);
  const input = embeddingInput(model);
  return {
    minSamples,
    embed: async (samples) => {
      const output = await model.run(input.of(samples), input.output);
      if (output.data.length !== size)
        throw new EngineError('invalid_model', `The model gives ${output.data.length} numbers; it says ${size}.`);
      return normalized(output.data);
    },
  };
}
