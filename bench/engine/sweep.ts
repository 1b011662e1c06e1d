/** All combinations of the settings, measured in rounds, so that what slows the machine for a while slows every cell. */
import type { EngineCell } from './bench-engine.js';
import type { EnginePass } from './engine-pass.js';

export interface SweepAxes {
  modelPaths: readonly string[];
  devices: readonly string[];
  slots: readonly number[];
  threads: readonly number[];
  beams: readonly number[];
}

export interface MeasuredCell {
  cell: EngineCell;
  passes: EnginePass[];
}

/** Of a CPU's cells those that ask for more threads than `maxThreads` in all are left out. */
export function sweepCells(axes: SweepAxes, maxThreads = Infinity): EngineCell[] {
  const cells: EngineCell[] = [];
  for (const modelPath of axes.modelPaths)
    for (const device of axes.devices)
      for (const beam of axes.beams)
        for (const threads of axes.threads)
          for (const slots of axes.slots)
            if (device !== 'cpu' || slots * threads <= maxThreads)
              cells.push({ modelPath, device, slots, threads, beam });
  return cells;
}

export interface SweepOptions {
  rounds: number;
  measure: (cell: EngineCell) => Promise<EnginePass>;
  /** Before each measurement. */
  onStep?: (done: number, total: number, cell: EngineCell) => void;
}

export async function sweep(cells: readonly EngineCell[], options: SweepOptions): Promise<MeasuredCell[]> {
  const measured = cells.map((cell) => ({ cell, passes: [] as EnginePass[] }));
  let done = 0;
  for (let round = 0; round < options.rounds; round++) {
    for (const { cell, passes } of measured) {
      options.onStep?.(done++, cells.length * options.rounds, cell);
      passes.push(await options.measure(cell));
    }
  }
  return measured;
}
