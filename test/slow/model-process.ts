/** A child process that loads a model file and runs it once. */
import { serveCalls } from '../../src/engine/process/serve-calls.js';
import { embeddingModel } from '../../src/engine/speakers/embedding-model.js';
import { loadOnnxModel } from '../../src/engine/speakers/onnx-model.js';
import { segmentationModel } from '../../src/engine/speakers/segmentation-model.js';

export type ModelCalls = {
  load: { request: { path: string; kind: 'segmentation' | 'embedding' }; progress: never; answer: null };
};

serveCalls<ModelCalls>(() =>
  Promise.resolve({
    load: async ({ path, kind }) => {
      const model = await loadOnnxModel(path, 1);
      const samples = new Float32Array(16_000);
      if (kind === 'segmentation') await segmentationModel(model).segment(samples, 0);
      else await embeddingModel(model).embed(samples);
      return null;
    },
  }),
);
