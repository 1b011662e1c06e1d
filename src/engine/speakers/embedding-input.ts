/** What each published family of voice embeddings takes, and how samples become it. */
import { EngineError } from '../native-errors.js';
import { BANDS, KaldiFeatures } from './features/kaldi-features.js';
import { NemoFeatures } from './features/nemo-features.js';
import { integerFact } from './onnx-facts.js';
import type { OnnxModel, TensorData } from './onnx-model.js';
import { samplesInput } from './segmentation-model.js';

type Inputs = Record<string, TensorData>;

export interface EmbeddingInput {
  of(samples: Float32Array): Inputs;
  /** The output with the voice, by its place among the outputs. */
  output: number;
}

/**
 * By the fact `framework`, as sherpa-onnx writes it; without one the model takes samples. Throws EngineError
 * `invalid_model`.
 */
export function embeddingInput(model: OnnxModel): EmbeddingInput {
  const framework = model.facts.get('framework');
  switch (framework) {
    case undefined:
      return takingSamples(model);
    case 'wespeaker':
      return takingKaldi(model, 'hamming');
    case '3d-speaker':
      return takingKaldi(model, 'povey');
    case 'nemo':
      return takingNemo(model);
    default:
      throw refusal('framework', framework, 'wespeaker, 3d-speaker, nemo, or none');
  }
}

function takingSamples(model: OnnxModel): EmbeddingInput {
  const name = samplesInput(model);
  return { of: (samples) => ({ [name]: { data: samples, dims: [1, 1, samples.length] } }), output: 0 };
}

/** Both families take off the mean of each band; WeSpeaker's files do not say so. */
function takingKaldi(model: OnnxModel, window: 'hamming' | 'povey'): EmbeddingInput {
  const [name = ''] = inputsOf(model, ['n', 'frames', BANDS]);
  fact(model, 'feature_normalize_type', ['global-mean', '']);
  const normalized = integerFact(model.facts, 'normalize_samples', 0, 1);
  const features = new KaldiFeatures({ window, scale: normalized === 1 ? 1 : 32_768 });
  return {
    of: (samples) => {
      const data = features.compute(samples);
      return { [name]: { data, dims: [1, data.length / BANDS, BANDS] } };
    },
    output: 0,
  };
}

function takingNemo(model: OnnxModel): EmbeddingInput {
  const bands = integerFact(model.facts, 'feat_dim', 1, 256);
  integerFact(model.facts, 'window_size_ms', 25, 25);
  integerFact(model.facts, 'window_stride_ms', 10, 10);
  fact(model, 'window_type', ['hann']);
  fact(model, 'feature_normalize_type', ['per_feature']);
  const [name = '', lengths = ''] = inputsOf(model, ['n', bands, 'frames'], ['n']);
  const features = new NemoFeatures(bands);
  return {
    of: (samples) => {
      const { values, frames, length } = features.compute(samples);
      return {
        [name]: { data: values, dims: [1, bands, frames] },
        [lengths]: { data: BigInt64Array.of(BigInt(length)), dims: [1] },
      };
    },
    // Behind the people that it was trained on.
    output: 1,
  };
}

type Shape = readonly (number | string)[];

/** The names of its inputs, which are of these shapes; a word stands for any length. */
function inputsOf({ shapes }: OnnxModel, ...wanted: readonly Shape[]): string[] {
  const inputs = [...shapes];
  const fits = wanted.every((shape, index) => isOfShape(inputs[index]?.[1] ?? [], shape));
  if (inputs.length === wanted.length && fits) return inputs.map(([name]) => name);
  const given = inputs.map(([name, shape]) => `${name} [${shape.join(', ')}]`).join(', ');
  const allowed = wanted.map((shape) => `[${shape.join(', ')}]`).join(', ');
  throw new EngineError('invalid_model', `The model takes ${given}; allowed: ${allowed}.`);
}

function isOfShape(given: Shape, wanted: Shape): boolean {
  const isAny = (length: number | string | undefined): boolean => typeof length === 'string';
  const fits = wanted.every((length, at) => isAny(length) || isAny(given[at]) || length === given[at]);
  return given.length === wanted.length && fits;
}

function fact({ facts }: OnnxModel, key: string, allowed: readonly string[]): void {
  const value = facts.get(key) ?? '';
  if (!allowed.includes(value)) throw refusal(key, value, allowed.filter(Boolean).join(', '));
}

function refusal(key: string, value: string, allowed: string): EngineError {
  return new EngineError('invalid_model', `The model has "${value.slice(0, 40)}" for ${key}; allowed: ${allowed}.`);
}
