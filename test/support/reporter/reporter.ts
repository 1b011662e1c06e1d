/** Mocha's spec reporter with the slowest files and one plain closing line that any CI can read. */
import { reporters, type MochaOptions, type Runner, type Suite } from 'mocha';
import { CostMeter, type FileCost } from './file-cost.js';
import { SEED } from '../seed.js';
import { FILE_COST } from './worker-reporter.js';

const SLOWEST = 20;

interface ParallelRunner extends Runner {
  isParallelMode(): boolean;
  workerReporter(path: string): void;
}

class Reporter extends reporters.Spec {
  readonly #costs: FileCost[] = [];

  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    this.#collectCosts(runner as ParallelRunner);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      process.stdout.write(`${this.#slowestFiles()}Seed of the property tests: ${SEED} (SEED=… for another)\n`);
      process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }

  #collectCosts(runner: ParallelRunner): void {
    if (runner.isParallelMode()) {
      runner.workerReporter(require.resolve('./worker-reporter.ts'));
      (runner as NodeJS.EventEmitter).on(FILE_COST, (cost: FileCost) => this.#costs.push(cost));
      return;
    }
    const meter = new CostMeter();
    runner.once('start', () => this.#costs.push(meter.take('(loading)')));
    runner.on('suite end', ({ file, parent }: Suite) => {
      if (parent?.root === true) this.#costs.push(meter.take(file ?? ''));
    });
  }

  #slowestFiles(): string {
    const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(8);
    const line = ({ file, wallMs, processorMs }: FileCost): string =>
      `${seconds(wallMs)}${seconds(processorMs)}  ${file}\n`;
    const sum = (field: 'wallMs' | 'processorMs'): number => this.#costs.reduce((all, cost) => all + cost[field], 0);
    const total = { file: `all ${this.#costs.length} files`, wallMs: sum('wallMs'), processorMs: sum('processorMs') };
    const count = Number(process.env['SLOWEST_FILES'] ?? SLOWEST);
    const slowest = this.#costs.toSorted((a, b) => b.processorMs + b.wallMs - (a.processorMs + a.wallMs));
    const lines = [...slowest.slice(0, count), total].map(line).join('');
    return `Slowest test files (seconds of wall clock, of processor time):\n${lines}`;
  }
}

export = Reporter;
