/**
 * Runs one measurement of the engine in a process of its own: its peak memory is the cell's, libuv's thread pool has
 * the size the cell needs, and nothing of the last cell is left in the caches of the allocator.
 */
import { fork } from 'node:child_process';
import { loadBinding } from '../../src/engine/binding.js';
import { loaderOf } from '../processes/command-line.js';
import { runEnginePass, type EngineJob, type EnginePass } from './engine-pass.js';

const SPARE_THREADS = 8;

type Answer = { pass: EnginePass } | { error: string };

/** Rejects with an Error that says why the cell could not be measured. */
export function measureInProcess(job: EngineJob): Promise<EnginePass> {
  const child = fork(__filename, [], {
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: String(job.cell.slots * job.cell.devices.length + SPARE_THREADS),
    },
    execArgv: loaderOf(__filename),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (answer: Answer) => {
      if ('pass' in answer) resolve(answer.pass);
      else reject(new Error(answer.error));
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new Error(`The measurement ended with ${signal ?? `exit code ${code}`}.`));
    });
    child.send(job);
  });
}

async function answer(job: EngineJob): Promise<Answer> {
  try {
    return { pass: await runEnginePass(loadBinding(), job) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

if (require.main === module) {
  process.once('message', (job: EngineJob) => {
    void answer(job).then((result) => process.send?.(result, () => process.disconnect()));
  });
}
