/** What takes long in the commands: the processes that they start, and what they measure in them. */
import { spawnSync } from 'node:child_process';
import { createBenchEngine } from '../engine/bench-engine.js';
import { measureInProcess } from '../engine/engine-process.js';
import { measureBilling } from '../load/billing.js';
import { measureFairness } from '../load/fairness.js';
import { measureLive } from '../live/measure.js';
import { measureLedgerNodes } from '../load/ledger-nodes.js';
import { measureMemory } from '../load/memory.js';
import { measureNodes } from '../load/nodes.js';
import { openLoop } from '../load/open-loop.js';
import { measureOverhead } from '../load/overhead.js';
import { soak } from '../load/soak.js';
import { MAIN, nodeWords } from '../processes/command-line.js';
import { serverPass, commandLinePass } from '../processes/peers.js';
import { startVerbatim } from '../processes/verbatim-process.js';
import { startWhisperServer } from '../processes/whisper-server-process.js';

/** As a user has them; a test hands in what stands for them. */
export const BENCH_PARTS = {
  createBenchEngine,
  measureBilling,
  measureFairness,
  measureInProcess,
  measureLedgerNodes,
  measureLive,
  measureMemory,
  measureNodes,
  measureOverhead,
  openLoop,
  runBench,
  serverPass,
  soak,
  startVerbatim,
  startWhisperServer,
  commandLinePass,
};

export type BenchParts = typeof BENCH_PARTS;

/** `verbatim bench` with these words, in a process of its own -> whether it succeeds. */
function runBench(words: readonly string[]): boolean {
  const { status } = spawnSync(process.execPath, nodeWords(MAIN, ['bench', ...words]), {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0;
}
