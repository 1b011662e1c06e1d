/** For `npm run test:asan`: the addon that is loaded is the sanitized one, which lies in a directory of its own. */
import Module from 'node:module';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const PLAIN = join(ROOT, 'build', 'Release', 'verbatim.node');
const SANITIZED = join(ROOT, 'build-asan-addon', 'Release', 'verbatim.node');

type Resolve = (request: string, ...more: unknown[]) => string;

const loader = Module as unknown as { _resolveFilename: Resolve };
const resolve = loader._resolveFilename;
loader._resolveFilename = (request, ...more) => resolve(request === PLAIN ? SANITIZED : request, ...more);
