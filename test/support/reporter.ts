/** Mocha's spec reporter with one plain closing line that any CI can read. */
import { reporters, type MochaOptions, type Runner } from 'mocha';

class Reporter extends reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }
}

export = Reporter;
