/** `npm run test:asan` judges an addon of its own, and leaves the one that every other test judges as it is. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';

const PRELOAD = './test/support/preload/sanitized-addon.ts';

describe('npm run test:asan', () => {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };

  it('builds into the directory that its tests load the addon from', () => {
    const command = scripts['test:asan'] ?? '';
    const [, directory = ''] = /^cmake-js compile --out (\S+) /.exec(command) ?? [];
    expect(command).to.include(` --require ${PRELOAD.slice(2)} `);
    const script = `
      const { join } = require('node:path');
      const Module = require('node:module');
      const real = Module._resolveFilename;
      // Neither of the two needs to be built for this.
      Module._resolveFilename = (path, ...more) => (path.endsWith('.node') ? path : real(path, ...more));
      require(${JSON.stringify(PRELOAD)});
      console.log(require.resolve(join(process.cwd(), 'build', 'Release', 'verbatim.node')));`;
    expect(directory).to.match(/^build-./);
    const words = ['--require', 'tsx/cjs', '--eval', script];
    const loaded = execFileSync(process.execPath, words, { cwd: packageRoot, encoding: 'utf8' }).trim();
    expect(loaded).to.equal(join(packageRoot, directory, 'Release', 'verbatim.node'));
  });
});
