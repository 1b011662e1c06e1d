import { accessSync, constants } from 'node:fs';
import { makeDirectory, SHARED } from '../../make-directory.js';

/** Creates the models directory if there is none. Throws an Error for an operator if it is not writable. */
export function checkWritable(modelsDir: string): void {
  try {
    makeDirectory(modelsDir, SHARED);
    accessSync(modelsDir, constants.W_OK);
  } catch (error) {
    throw new Error(
      `The directory of models ${modelsDir} cannot be written to (${(error as NodeJS.ErrnoException).code}): ` +
        `VERBATIM_MODELS_DIR names another`,
      { cause: error },
    );
  }
}
