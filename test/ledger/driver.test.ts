/**
 * SQLite's driver on whatever Node.js runs the tests: a process that leaves databases open ends as it would without.
 */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { packageRoot } from '../../src/package-root.js';

/** Statements that V8 collects while the code of another context runs. */
const COLLECTED = `
  const { createContext, runInContext } = require('node:vm');
  const context = createContext({ database });
  runInContext('globalThis.done = (async () => {' +
    'for (let i = 0; i < 30000; i++) { database.prepare("select 1").get(); await null; } })()', context);
  context.done.then(() => console.log('done'));`;

/** A thread that ends with its database open. */
const THREAD = `
  const { isMainThread, Worker } = require('node:worker_threads');
  database.prepare('select 1').get();
  if (isMainThread) new Worker(process.env.SCRIPT, { eval: true }).on('exit', () => console.log('done'));`;

describe("SQLite's driver", function () {
  this.timeout(60_000);
  for (const [title, then] of [
    ['collects statements in another context than that of Node.js', COLLECTED],
    ['ends with a thread that leaves its database open', THREAD],
    ['ends with an open database', `console.log('done');`],
    ['ends at once with an open database', `console.log('done'); process.exit(0);`],
  ] as const) {
    it(title, () => {
      const script = `
        require('tsx/cjs');
        const { Database } = require('./src/ledger/sqlite/driver.ts');
        const database = new Database(':memory:');
        globalThis.kept = [database, database.prepare('select 1')];
        ${then}`;
      const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
        ...{ cwd: packageRoot, encoding: 'utf8', env: { ...process.env, SCRIPT: script } },
      });
      expect({ status, signal, stdout }, stderr).to.deep.equal({ status: 0, signal: null, stdout: 'done\n' });
    });
  }
});
