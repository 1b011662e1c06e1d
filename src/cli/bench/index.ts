import type { Command } from 'commander';
import { addBenchCompare } from './compare.js';
import { addBenchEngine } from './engine.js';
import { addBenchHttp } from './http.js';
import { addBenchMemory } from './memory.js';
import { addBenchOverhead } from './overhead.js';
import { addBenchTranslate } from './translate.js';
import { addBenchTune } from './tune.js';

export function addBench(program: Command): void {
  const bench = program
    .command('bench')
    .description('measure this machine: engine, server, settings, peers; every report tells how it was made');
  for (const add of [
    addBenchCompare,
    addBenchEngine,
    addBenchHttp,
    addBenchMemory,
    addBenchOverhead,
    addBenchTranslate,
    addBenchTune,
  ])
    add(bench);
}
