import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

/** `verbatim` as it was built, so `npm run build` first. */
export const builtMain = join(packageRoot, 'dist', 'src', 'main.js');

/** The same, or another build that is to be attacked. */
export const attackedMain = process.env['ATTACKED_MAIN'] ?? builtMain;
