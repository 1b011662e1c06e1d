/** Where every property test begins: the same in each run of the default commands, another with SEED. */
import * as fc from 'fast-check';

export const SEED = Number(process.env['SEED'] ?? 1);
if (!Number.isSafeInteger(SEED)) throw new Error(`SEED is "${process.env['SEED']}"; allowed: an integer`);

fc.configureGlobal({ seed: SEED });
