#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 node --v8-pool-size=1
/** Entry point of the `verbatim` command. */
import { runCli } from './cli/program.js';
import { sizeThreadPool } from './service/thread-pool.js';

sizeThreadPool(process.env);
void runCli(process.argv).then((code) => {
  process.exitCode = code;
});
