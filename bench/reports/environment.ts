/** What a number depends on beside the program: machine, load, commit, model. */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { hashFile } from '../../src/models/store.js';

export interface Environment {
  cpu: string;
  cores: number;
  memoryGiB: number;
  /** Runnable processes, mean of the last minute, when the run began. */
  loadAtStart: number;
  node: string;
  /** null outside a git checkout; ends in '+' when files differ from it. */
  commit: string | null;
  startedAt: string;
}

export function describeEnvironment(packageRoot: string): Environment {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Number((totalmem() / 2 ** 30).toFixed(1)),
    loadAtStart: Number((loadavg()[0] ?? 0).toFixed(2)),
    node: process.version,
    commit: commitOf(packageRoot),
    startedAt: new Date().toISOString(),
  };
}

function commitOf(packageRoot: string): string | null {
  const git = (...words: string[]): string | null => {
    const { status, stdout } = spawnSync('git', ['-C', packageRoot, ...words], { encoding: 'utf8' });
    return status === 0 ? stdout.trim() : null;
  };
  const commit = git('rev-parse', '--short=12', 'HEAD');
  if (commit === null) return null;
  return git('status', '--porcelain', '--untracked-files=no') === '' ? commit : `${commit}+`;
}

export interface ModelIdentity {
  name: string;
  sha256: string;
}

export async function identifyModel(name: string, path: string): Promise<ModelIdentity> {
  return { name, sha256: await hashFile(path, 'sha256') };
}
