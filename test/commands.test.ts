/** Every test file belongs to one command: `npm test`, `npm run test:full`, `npm run test:slow` or `npm run test:vulkan`. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';

interface Selection {
  spec: string[];
  ignore?: string[];
  extension: string[];
}

const ROOT = join(__dirname, '..');
/** Mocha's own choice of files. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- it has no types
const collectFiles = require('mocha/lib/cli/collect-files.cjs') as (selection: object) => { files: string[] };

function chosenBy(selection: Selection): string[] {
  const { files } = collectFiles({ ignore: [], file: [], ...selection });
  return files.map((file) => relative(ROOT, file)).sort();
}

const configuration = (name: string): Selection => JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as Selection;
const [fast, full, slow, vulkan] = ['.json', '.full.json', '.slow.json', '.vulkan.json'].map((name) =>
  chosenBy(configuration(`.mocharc${name}`)),
) as [string[], string[], string[], string[]];

describe('The test commands', () => {
  it('have each test file in one of them', () => {
    const all = chosenBy({ spec: ['test/**/*.test.ts'], extension: ['ts'] });
    expect([...fast, ...full, ...slow, ...vulkan].sort()).to.deep.equal(all);
    for (const files of [fast, full, slow, vulkan]) expect(files).not.to.deep.equal([]);
  });

  it('are run by the scripts of their names, each on what it has just built', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const command of ['test', 'test:full', 'test:slow'])
      expect(scripts[command]).to.contain('&& npm run build &&');
    expect(scripts['test']).to.match(/&& npm run test:engine && npm run test:node$/);
    expect(scripts['test:full']).to.match(
      /&& npm run test:engine:long && npm run test:engine:avx2 && npm run test:node:full$/,
    );
    // Each case of the engine's tests is in one of the two.
    expect(scripts['test:engine']).to.match(/build\/engine_test --test-suite-exclude=long$/);
    expect(scripts['test:engine:long']).to.match(/build\/engine_test --test-suite=long$/);
    expect(scripts['test:node']).to.equal('mocha');
    expect(scripts['test:node:full']).to.equal('mocha --config .mocharc.full.json');
    expect(scripts['test:slow']).to.match(/&& mocha --config .mocharc.slow.json$/);
    expect(scripts['test:vulkan']).to.match(/&& npm run test:vulkan:engine && mocha --config .mocharc.vulkan.json$/);
    expect(scripts['test:vulkan:engine']).to.contain(' VERBATIM_TEST_DEVICE=vulkan:software ');
  });

  it('are what continuous integration runs, but for the slow one and the one of Vulkan', () => {
    const lines = readFileSync(join(ROOT, '.ci', 'run'), 'utf8').split('\n');
    expect(lines).to.include.members(['./setup', 'npm test', 'npm run test:full', 'npm run lint', 'npm run typecheck']);
  });
});
