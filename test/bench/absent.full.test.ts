/** The command line where nobody has installed the benchmarks: of the build, all but dist/bench. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(__dirname, '..', '..');

describe('verbatim without its benchmarks', function () {
  this.timeout(120_000);
  let directory: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
    for (const part of ['package.json', 'tsconfig.json', 'tsconfig.build.json'])
      copyFileSync(join(root, part), join(directory, part));
    for (const part of ['node_modules', 'models', 'src']) symlinkSync(join(root, part), join(directory, part));
    // Built from the sources as they are, so that no old build is what is tested.
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const words = ['-p', join(root, 'tsconfig.build.json'), '--outDir', join(directory, 'dist')];
    const built = spawnSync(process.execPath, [tsc, ...words], { encoding: 'utf8' });
    expect(built.status, built.stdout).to.equal(0);
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  const verbatim = (...words: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [join(directory, 'dist', 'src', 'main.js'), ...words], { encoding: 'utf8' });

  it('has them while they are there', () => {
    for (const words of [
      ['bench', '--help'],
      ['help', 'bench'],
    ]) {
      const { status, stdout } = verbatim(...words);
      expect(status).to.equal(0);
      expect(stdout).to.contain('throughput and latency of the engine');
    }
  });

  it('names the package and how it comes', () => {
    rmSync(join(directory, 'dist', 'bench'), { recursive: true });
    for (const words of [['bench'], ['bench', 'engine', '--slots', '1'], ['bench', '--help'], ['help', 'bench']]) {
      const { status, stdout, stderr } = verbatim(...words);
      expect(status, words.join(' ')).to.equal(1);
      expect(stdout).to.equal('');
      expect(stderr).to.equal(
        'verbatim: The benchmarks are the package @verbatim/bench, which is not installed or not built here. Run: ' +
          './setup\n',
      );
    }
  });

  it('does all else, with a help that leaves them out', () => {
    rmSync(join(directory, 'dist', 'bench'), { recursive: true, force: true });
    const { status, stdout } = verbatim('--help');
    expect(status).to.equal(0);
    expect(stdout).to.contain('transcribe').and.not.to.contain('bench');
    const models = verbatim('models', 'list', '--json');
    expect(models.status, models.stderr).to.equal(0);
    expect(models.stdout).to.contain('verbatim-small');
  });
});
