import type { Command } from 'commander';
import { addBenchCompare } from './commands/compare.js';
import { addBenchEngine } from './commands/engine.js';
import { addBenchHttp } from './commands/http.js';
import { addBenchMemory } from './commands/memory.js';
import { addBenchOverhead } from './commands/overhead.js';
import { addBenchTranslate } from './commands/translate.js';
import { addBenchTune } from './commands/tune.js';

/** All of `verbatim bench`, onto its command. */
export function addBenchCommands(bench: Command): void {
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
