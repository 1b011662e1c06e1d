import { VerbatimError } from '../../errors.js';
import { namedModel, type ModelService } from '../openai/model-names.js';

/** The name of the installed model that serves under this one; null: the default. Throws `model_not_found`. */
export function installedName(name: string | null, deps: ModelService): string | null {
  if (name === null) return null;
  const { model, name: installed } = namedModel(name, deps);
  if (model !== null) return installed;
  const names = deps.speechModels.list().map(({ info }) => info.modelName);
  throw new VerbatimError('model_not_found', `There is no speech model "${name}"; installed: ${names.join(', ')}.`, {
    param: 'session.audio.input.transcription.model',
  });
}
