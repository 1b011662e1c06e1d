/** Which model a name means. */
import { VerbatimError } from '../../errors.js';
import type { ListedSpeechModel, SpeechModelDirectory } from '../../transcription/engine-lease.js';

/** OpenAI's own names: whatever a client was made for, it gets the default model. */
const OPENAI_NAME = /^(whisper|gpt)-/i;

export interface ModelService {
  speechModels: SpeechModelDirectory;
}

/** What a name asks for. */
export interface NamedModel {
  /** null: the default model. */
  name: string | null;
  model: ListedSpeechModel;
}

/** An installed model, or the default under a name of OpenAI's. Throws `model_not_found`. */
export function requestedModel(name: string, { speechModels }: ModelService): NamedModel {
  const installed = speechModels.find(name);
  if (installed !== null) return { name, model: installed };
  const all = speechModels.list();
  if (OPENAI_NAME.test(name)) return { name: null, model: all[0] };
  const names = all.map(({ info }) => info.modelName).join(', ');
  const message = `There is no model "${name}"; installed: ${names}.`;
  throw new VerbatimError('model_not_found', message, { param: 'model' });
}
