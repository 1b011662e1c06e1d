/** Mocha's reporter of a parallel worker, which also sends the file's cost to the reporter of the whole run. */
import type { MochaOptions, Runner } from 'mocha';
import { CostMeter, type FileCost } from './file-cost.js';

interface Buffered {
  /** Makes a function that puts an event of this name into what goes to the main process. */
  createListener(event: string): (data: object) => void;
  done(failures: number, callback: (failures: number) => void): void;
}

/** Not among Mocha's declared types; the place is the one that its own parallel runner names. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- it has no types
const ParallelBuffered = require('mocha/lib/nodejs/reporters/parallel-buffered.cjs') as new (
  runner: Runner,
  options: MochaOptions,
) => Buffered;

export const FILE_COST = 'file cost';

/** One per process: what passes between two files is the loading of the second. */
const meter = new CostMeter();

class WorkerReporter extends ParallelBuffered {
  readonly #file: string;

  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    this.#file = runner.suite.suites[0]?.file ?? '';
  }

  override done(failures: number, callback: (failures: number) => void): void {
    const cost: FileCost = meter.take(this.#file);
    this.createListener(FILE_COST)(cost);
    super.done(failures, callback);
  }
}

export default WorkerReporter;
