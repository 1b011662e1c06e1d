/** What a test file costs: wall clock, and the processor time of this process and of the children that have ended. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

export interface FileCost {
  file: string;
  wallMs: number;
  processorMs: number;
}

/** Linux counts a process's time in hundredths of a second, whatever the kernel's own ticks are. */
const TICK_MS = 10;

/** Cost since the last call, or since the process began: a file's modules are loaded before its tests start. */
export class CostMeter {
  #wallMs = performance.timeOrigin;
  #processorMs = 0;

  take(file: string): FileCost {
    const before = { wallMs: this.#wallMs, processorMs: this.#processorMs };
    this.#wallMs = performance.timeOrigin + performance.now();
    this.#processorMs = processorMs();
    return {
      file: relative(process.cwd(), file),
      wallMs: this.#wallMs - before.wallMs,
      processorMs: this.#processorMs - before.processorMs,
    };
  }
}

/** utime, stime, cutime and cstime of proc(5). */
function processorMs(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}
