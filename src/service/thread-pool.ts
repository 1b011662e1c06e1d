/**
 * The size of libuv's thread pool: one thread for each slot and each translator, and a few more so that files and DNS
 * never wait for inference. The devices are not known yet, because asking for them loads the addon. A few threads too
 * many cost nothing.
 */
import { availableParallelism } from 'node:os';
import { GPU_SLOTS, cpuSlots } from './slots.js';
import { readTuned } from './tuned.js';
import type { EnvironmentVariables } from './variables.js';

/** Translation batches in flight. */
export const TRANSLATORS = 2;

const SPARE_THREADS = 4;

/** libuv's maximum. */
const LARGEST = 1024;

/** Must be called before anything uses the pool. Keeps a size that is set in the environment. */
export function sizeThreadPool(env: NodeJS.ProcessEnv): void {
  env['UV_THREADPOOL_SIZE'] ??= String(threadPoolSize(env, availableParallelism(), tunedSlots()));
}

/** Ignores bad values; readConfig() refuses them. */
export function threadPoolSize(env: EnvironmentVariables, cores: number, tuned: number): number {
  const slots = Number(env['VERBATIM_SLOTS']);
  const known = Number.isInteger(slots) && slots > 0;
  const most = known ? slots : Math.max(cpuSlots(1, cores), tuned, onCuda(env) ? GPU_SLOTS : 1);
  return Math.min(LARGEST, most * deviceCount(env) + TRANSLATORS + SPARE_THREADS);
}

function onCuda(env: EnvironmentVariables): boolean {
  return env['VERBATIM_DEVICE'] !== 'cpu';
}

/** `verbatim transcribe` has slots on each device, so twice as many with cuda:0,1. */
function deviceCount(env: EnvironmentVariables): number {
  return env['VERBATIM_DEVICE']?.split(',').length ?? 1;
}

/** Ignores a broken file; `serve` reports it. */
function tunedSlots(): number {
  try {
    return readTuned()?.slots ?? 1;
  } catch {
    return 1;
  }
}
