#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 node
/**
 * Entry point of the `verbatim` command. Sizes libuv's thread pool before anything uses it: a thread for every slot and
 * every translator, and four so that files and DNS never wait for inference.
 */
import { availableParallelism } from 'node:os';
import { runCli } from './cli/program.js';
import { readTuned } from './service/tuned.js';

const SPARE_THREADS = 4;
const TRANSLATORS = 2;

function poolSize(): number {
  const slots = Number(process.env['VERBATIM_SLOTS']);
  const known = Number.isInteger(slots) && slots > 0 ? slots : Math.max(availableParallelism(), tunedSlots());
  return Math.min(1024, known * deviceCount() + TRANSLATORS + SPARE_THREADS);
}

/** Whether the file holds good is for `serve` to say; a few threads too many cost nothing. */
function tunedSlots(): number {
  try {
    return readTuned()?.slots ?? 1;
  } catch {
    return 1;
  }
}

/** Slots are counted by device: cuda:0,1 has twice as many. */
function deviceCount(): number {
  return process.env['VERBATIM_DEVICE']?.split(',').length ?? 1;
}

process.env['UV_THREADPOOL_SIZE'] ??= String(poolSize());
void runCli(process.argv).then((code) => {
  process.exitCode = code;
});
