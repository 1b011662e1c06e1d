import { accessSync, constants } from 'node:fs';
import { makeDirectory, SHARED } from '../../make-directory.js';

/** Creates the models directory if there is none. Throws an Error for an operator if it is not writable. */
export function checkWritable(modelsDir: string): void {
  try {
    makeDirectory(modelsDir, SHARED);
    accessSync(modelsDir, constants.W_OK);
  } catch (error) {
    throw new Error(
      `The models directory ${modelsDir} is not writable (${(error as NodeJS.ErrnoException).code}); name ` +
        'another in VERBATIM_MODELS_DIR',
      { cause: error },
    );
  }
}
