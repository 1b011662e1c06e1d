import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { samples } from '../support/speech.js';
import { binding, POLICY } from './support.js';

/** Priorities (nice) of this process's threads; see proc(5), field 19 of stat. */
function threadPriorities(): number[] {
  return readdirSync('/proc/self/task').map((task) => {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
    // The name, in brackets, may hold blanks; the state behind it is field 3.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

describe('Priorities of threads', () => {
  it('are lower for those that compute, and as they were for all others', async () => {
    const own = getPriority();
    const lowered = (): number => threadPriorities().filter((priority) => priority > own).length;
    const others = threadPriorities().length - lowered();
    const before = lowered();
    const atOnce = samples()
      .slice(0, 3)
      .map(({ path }) => binding.openAudio(path, POLICY));
    for (const reader of await Promise.all(atOnce)) reader.close();
    expect(lowered()).to.be.at.least(Math.max(before, 1));
    expect(threadPriorities().length - lowered()).to.be.at.least(others);
    expect(getPriority()).to.equal(own);
  });
});
