import { installedModel, namedModel, type ModelService } from '../openai/model-names.js';

/** The name of the installed model that serves under this one; null: the default. Throws as installedModel() does. */
export function installedName(name: string | null, deps: ModelService, param: string): string | null {
  if (name === null) return null;
  installedModel(name, deps, param);
  return namedModel(name, deps).name;
}
