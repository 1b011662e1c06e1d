import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.js';

/** Paths of what a process has loaded once it has loaded this. */
function loadedBy(path: string): string[] {
  const load = `require(${JSON.stringify(join(packageRoot, path))}); console.log(JSON.stringify(Object.keys(require.cache)))`;
  const reported = execFileSync(process.execPath, ['--require', 'tsx/cjs', '--eval', load], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  return JSON.parse(reported) as string[];
}

describe('What the process of the engine loads', () => {
  it('is no library that the service alone needs: it is started again while clients wait', () => {
    const loaded = loadedBy('src/service/engines.ts');
    const names = loaded.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    for (const unneeded of ['typebox', 'express', 'better-sqlite3', 'pg', 'prom-client', 'busboy'])
      expect(names, unneeded).not.to.include(unneeded);
    expect(loaded.some((path) => path.endsWith('/src/models/manifest.ts'))).to.equal(true);
  });
});
