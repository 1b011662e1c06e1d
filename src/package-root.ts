/** Where this package lies: the sources, and what is built of them, at different depths below it. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

function nearestPackage(directory: string): string {
  return existsSync(join(directory, 'package.json')) ? directory : nearestPackage(dirname(directory));
}

export const packageRoot = nearestPackage(__dirname);

/**
 * What calls this installation: one that carries its own Node, as the Debian package does, has its command in the path.
 */
export function commandOf(root: string): string {
  return existsSync(join(root, 'bin', 'node')) ? 'verbatim' : 'npx verbatim';
}

export const ownCommand = commandOf(packageRoot);
