import { EngineError } from '../native-errors.js';
import { integerFact } from './onnx-facts.js';
import type { OnnxModel } from './onnx-model.js';
import { powersetClasses, speakerActivity } from './powerset.js';
import type { FrameGrid, WindowActivity } from './window-activity.js';

/** Who of a few speaks in each frame of a window. */
export interface SegmentationModel {
  /** Samples of the windows that it was made for. */
  windowSamples: number;
  grid: FrameGrid;
  /** `start` gets the answer. Samples: at most windowSamples. */
  segment(samples: Float32Array, start: number): Promise<WindowActivity>;
}

const RATE = 16_000;

/**
 * Of the form of pyannote-segmentation-3.0 as sherpa-onnx publishes it: samples [n, 1, samples] -> log-probabilities
 * [n, frames, classes]. Throws EngineError `invalid_model`.
 */
export function segmentationModel(model: OnnxModel): SegmentationModel {
  const { facts } = model;
  integerFact(facts, 'sample_rate', RATE, RATE);
  const windowSamples = integerFact(facts, 'window_size', RATE, 60 * RATE);
  const grid = {
    shift: integerFact(facts, 'receptive_field_shift', 80, RATE),
    size: integerFact(facts, 'receptive_field_size', 80, RATE),
  };
  const speakers = integerFact(facts, 'num_speakers', 1, 4);
  const classes = powersetClasses(speakers, integerFact(facts, 'powerset_max_classes', 1, speakers));
  const input = samplesInput(model);
  return {
    windowSamples,
    grid,
    segment: async (recorded, start) => {
      const samples = longEnough(recorded);
      const dims = [1, 1, samples.length];
      const output = await model.run({ [input]: { data: samples, dims } });
      const [windows, frames = 0, count] = output.dims;
      if (windows !== 1 || count !== classes.length || output.dims.length !== 3)
        throw new EngineError(
          'invalid_model',
          `The model gives [${output.dims.join(', ')}]; allowed: [1, frames, ${classes.length}].`,
        );
      return { start, frames, activity: speakerActivity(output.data, classes, speakers) };
    },
  };
}

/** Adds silence to less than a tenth of a second: the network makes no frame of so little. */
function longEnough(samples: Float32Array): Float32Array {
  if (samples.length >= RATE / 10) return samples;
  const padded = new Float32Array(RATE / 10);
  padded.set(samples);
  return padded;
}

/** The name of the one input, which takes [n, 1, samples]. */
export function samplesInput({ shapes }: OnnxModel): string {
  const [entry, ...more] = shapes;
  if (entry !== undefined && more.length === 0 && entry[1].length === 3 && entry[1][1] === 1) return entry[0];
  const given = [...shapes].map(([name, shape]) => `${name} [${shape.join(', ')}]`).join(', ');
  throw new EngineError('invalid_model', `The model takes ${given}; allowed: one input [n, 1, samples].`);
}
