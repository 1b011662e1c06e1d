/** Where this package lies: the sources, and what is built of them, at different depths below it. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function nearestPackage(directory: string): string {
  return existsSync(join(directory, 'package.json')) ? directory : nearestPackage(dirname(directory));
}

export const packageRoot = nearestPackage(__dirname);
