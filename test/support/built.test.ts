/** What a test judges is what the sources are now. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';
import { staleSources } from './built.js';

const BUILD = join(packageRoot, 'build');

function ninja(...words: string[]): string[] {
  return execFileSync('ninja', ['-C', BUILD, ...words], { encoding: 'utf8', maxBuffer: 1 << 28 }).split('\n');
}

/**
 * Files under native/ that a target is compiled of: its sources by ninja's graph, their headers as the compiler noted
 * them.
 */
function sourcesOf(target: string): string[] {
  const inputs = new Set(ninja('-t', 'inputs', target));
  let isInput = false;
  const headers = ninja('-t', 'deps').filter((line) => {
    if (!line.startsWith(' ')) isInput = inputs.has(line.slice(0, line.indexOf(':')));
    return isInput && line.startsWith(' ');
  });
  const paths = [...inputs, ...headers].map((path) => resolve(BUILD, path.trim()));
  return [...new Set(paths)].filter((path) => path.startsWith(join(packageRoot, 'native') + sep));
}

describe('What is built', () => {
  it('is built of the sources as they are now', () => {
    expect(staleSources(), 'run: npm run build:ts').to.deep.equal([]);
  });

  for (const [target, path] of [
    ['verbatim', join('Release', 'verbatim.node')],
    ['engine_test', 'engine_test'],
  ] as const)
    it(`is all of native/ that ${target} is of`, () => {
      const binary = join(BUILD, path);
      expect(existsSync(binary), `${binary} is there; run: cmake --build build --target ${target}`).to.equal(true);
      const sources = sourcesOf(target);
      expect(sources.length).to.be.above(100);
      const builtMs = statSync(binary).mtimeMs;
      const newer = sources.filter((source) => statSync(source).mtimeMs > builtMs);
      expect(newer, `run: cmake --build build --target ${target}`).to.deep.equal([]);
    });

  describe('of other sources', () => {
    let directory: string;
    const source = (): string => join(directory, 'src', 'one.ts');

    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'verbatim-built-'));
      mkdirSync(join(directory, 'src'));
      writeFileSync(source(), 'export const one = 1;\n');
      writeFileSync(join(directory, 'src', 'two.ts'), "import { one } from './one';\nexport const two = 2 * one;\n");
      const compilerOptions = { rootDir: '.', outDir: 'dist', incremental: true, types: [], skipLibCheck: true };
      writeFileSync(join(directory, 'tsconfig.build.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
      build();
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    function build(): void {
      const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
      const words = [tsc, '-p', join(directory, 'tsconfig.build.json')];
      const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      expect(status, stdout).to.equal(0);
    }
    const stale = (): string[] => staleSources(join(directory, 'dist'));

    it('is noticed when a source has changed, and not after the next build', () => {
      expect(stale()).to.deep.equal([]);
      writeFileSync(source(), 'export const one = 10;\n');
      expect(stale()).to.deep.equal([source()]);
      build();
      expect(stale()).to.deep.equal([]);
      expect(readFileSync(join(directory, 'dist', 'src', 'one.js'), 'utf8')).to.contain('10');
    });

    it('is noticed when a source is gone, or when nothing is built', () => {
      rmSync(source());
      expect(stale()).to.deep.equal([source()]);
      rmSync(join(directory, 'dist'), { recursive: true });
      expect(stale()).to.have.length(1);
    });
  });
});
