/** Which model a name refers to. */
import { VerbatimError } from '../../errors.js';
import {
  unsupportedModel,
  type ListedSpeechModel,
  type SpeechModelDirectory,
} from '../../transcription/engine-lease.js';

/** OpenAI's own names: whatever a client was made for, it gets the default model. */
const OPENAI_NAME = /^(whisper|gpt)-/i;

export interface ModelService {
  speechModels: SpeechModelDirectory;
}

/** What a name asks for. */
export interface NamedModel {
  /** null: the default model. */
  name: string | null;
  /** null: it is not installed. */
  model: ListedSpeechModel | null;
}

/**
 * The default model under a name of OpenAI's that no installed model has. A name that is not installed is let through:
 * a repeat gets its stored answer, and any other request is refused when it acquires its engine.
 */
export function namedModel(name: string, { speechModels }: ModelService): NamedModel {
  const installed = speechModels.find(name);
  if (installed !== null) return { name, model: installed };
  return OPENAI_NAME.test(name) ? { name: null, model: speechModels.list()[0] } : { name, model: null };
}

/** Throws `model_not_found`. `param`: where the client named it. */
export function installedModel(name: string, service: ModelService, param = 'model'): ListedSpeechModel {
  const { model } = namedModel(name, service);
  if (model !== null) return model;
  const names = service.speechModels.list().map(({ info }) => info.modelName);
  throw new VerbatimError('model_not_found', unsupportedModel(name, names).message, { param });
}
