/** Which model a name means. */
import type { EngineInfo } from '../../engine/types.js';
import { VerbatimError } from '../../errors.js';

/** OpenAI's own names: whatever a client was made for, it gets the model that is there. */
const OPENAI_NAME = /^(whisper|gpt)-/i;

export interface ModelService {
  engine: { info: Pick<EngineInfo, 'modelName'> };
  installedModels: () => readonly string[];
}

/** Throws `model_not_found` unless it is the model that this process serves. */
export function requireServed(name: string, { engine, installedModels }: ModelService): void {
  const served = engine.info.modelName;
  if (name === served || OPENAI_NAME.test(name)) return;
  const message = installedModels().includes(name)
    ? `The model "${name}" is installed, but this process serves "${served}".`
    : `There is no model "${name}"; this process serves "${served}".`;
  throw new VerbatimError('model_not_found', message, { param: 'model' });
}
