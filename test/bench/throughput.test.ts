import { Command } from 'commander';
import { expect } from 'chai';
import { throughputSteps } from '../../bench/commands/throughput.js';
import { addBenchCommands } from '../../bench/index.js';

describe('The throughput run', () => {
  const options = { from: '/sentences', model: 'a,b', build: '/build' };

  for (const quick of [true, false]) {
    it(`asks each command for what it knows, ${quick ? 'quickly' : 'in full'}`, () => {
      const bench = new Command('bench');
      addBenchCommands(bench);
      const steps = throughputSteps('/reports', { ...options, quick });
      expect(steps.map(([name]) => name)).to.deep.equal(['clips', 'engine', 'tune', 'compare', 'overhead', 'memory']);
      for (const [name, ...words] of steps) {
        const command = bench.commands.find((one) => one.name() === name)!;
        const { operands, unknown } = command.exitOverride().parseOptions(words);
        expect(unknown, name).to.deep.equal([]);
        expect(operands, name).to.deep.equal(name === 'clips' ? ['/reports/clips'] : []);
        if (name !== 'clips') expect(command.opts()['output'], name).to.equal('/reports');
      }
      const given = Object.fromEntries(bench.commands.map((one) => [one.name(), one.opts()]));
      expect(given['clips']).to.include({ from: '/sentences', count: quick ? 12 : 60, build: '/build' });
      expect(given['compare']).to.include({ model: 'a,b', clips: '/reports/clips', build: '/build' });
      expect(given['tune']).to.include({ file: '/reports/verbatim.tuned.json' });
      expect(given['memory']).to.include({ minutes: quick ? 1 : 120 });
    });
  }
});
