/** The child process in which speaker models run: a hostile audio file or model can break this process only. */
import { loadBinding } from '../binding.js';
import { ofModel } from '../native-errors.js';
import { serveCalls } from '../process/serve-calls.js';
import { floatsFromText } from '../remote/sample-text.js';
import { diarize } from './diarization.js';
import type { SpeakerModels } from './embedded-window.js';
import { embeddingModel } from './embedding-model.js';
import { loadOnnxModel, type OnnxModel } from './onnx-model.js';
import { toPlainPiece } from './plain-voices.js';
import { segmentationModel } from './segmentation-model.js';
import type { SpeakerCalls, SpeakerModelFiles } from './speaker-calls.js';
import { voicesIn } from './stretch-voices.js';

serveCalls<SpeakerCalls>(async (settings) => {
  const binding = loadBinding();
  const models = await loadModels(settings as SpeakerModelFiles);
  return {
    diarize: async ({ path, options }, { signal }) => {
      const reader = await binding.openSamples(path);
      try {
        return await diarize((count) => reader.read(count), models, options, signal);
      } finally {
        reader.close();
      }
    },
    voices: async ({ samples }, { signal }) =>
      (await voicesIn(floatsFromText(samples), models, signal)).map(toPlainPiece),
  };
});

async function loadModels({ segmentation, embedding, threads }: SpeakerModelFiles): Promise<SpeakerModels> {
  const load = async <T>(what: string, path: string, as: (model: OnnxModel) => T): Promise<T> => {
    try {
      return as(await loadOnnxModel(path, threads));
    } catch (error) {
      throw ofModel(`${what} ${path}`, error);
    }
  };
  return {
    segmentation: await load('segmentation model', segmentation, segmentationModel),
    embedding: await load('embedding model', embedding, embeddingModel),
  };
}
