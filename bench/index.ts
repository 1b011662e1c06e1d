import type { Command } from 'commander';
import { addBenchAccuracy } from './commands/accuracy.js';
import { addBenchClips } from './commands/clips.js';
import { addBenchCompare } from './commands/compare.js';
import { addBenchDraw } from './commands/draw.js';
import { addBenchEngine } from './commands/engine.js';
import { addBenchHttp } from './commands/http.js';
import { addBenchLedger } from './commands/ledger.js';
import { addBenchLibrary } from './commands/library.js';
import { addBenchLive } from './commands/live.js';
import { addBenchMemory } from './commands/memory.js';
import { addBenchOverhead } from './commands/overhead.js';
import { addBenchParity } from './commands/parity.js';
import { addBenchNodes } from './commands/nodes.js';
import { BENCH_PARTS, type BenchParts } from './commands/parts.js';
import { addBenchSpeakers } from './commands/speakers.js';
import { addBenchSegments } from './commands/segments.js';
import { addBenchThroughput } from './commands/throughput.js';
import { addBenchTranslate } from './commands/translate.js';
import { addBenchTune } from './commands/tune.js';
import { addBenchWords } from './commands/words.js';

/** All of `verbatim bench`, onto its command. */
export function addBenchCommands(bench: Command, parts: BenchParts = BENCH_PARTS): void {
  for (const add of [
    addBenchEngine,
    addBenchTune,
    addBenchTranslate,
    addBenchHttp,
    addBenchCompare,
    addBenchOverhead,
    addBenchMemory,
    addBenchAccuracy,
    addBenchParity,
    addBenchLedger,
    addBenchNodes,
    addBenchLibrary,
    addBenchClips,
    addBenchDraw,
    addBenchSegments,
    addBenchThroughput,
    addBenchSpeakers,
    addBenchWords,
    addBenchLive,
  ])
    add(bench, parts);
}
