import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import {
  peakMemoryBytes,
  peakMemoryBytesOfAll,
  processorMs,
  processorMsOfAll,
  residentBytes,
  residentBytesOfAll,
  withDescendants,
} from '../../bench/processes/process-usage.js';
import { stateOf } from '../support/child-processes.js';
import { until } from '../support/until.js';

describe('bench: what processes used', () => {
  it('is summed over a process and its descendants', async () => {
    const shell = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!; read _; kill $!'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const [line] = (await once(shell.stdout, 'data')) as [Buffer];
    const [parent, child] = [shell.pid!, Number(line.toString())];
    // One may be on its way to become `sleep`, the other to read: what they hold changes meanwhile.
    for (const pid of [parent, child]) {
      process.kill(pid, 'SIGSTOP');
      await until(() => stateOf(pid) === 'T');
    }
    expect(withDescendants(parent)).to.deep.equal([parent, child]);
    expect(withDescendants(process.pid)).to.include.members([process.pid, parent, child]);
    const [held, worked] = [residentBytes(parent), processorMs(parent) + processorMs(child)];
    expect(residentBytesOfAll(parent)).to.be.above(held);
    expect(peakMemoryBytesOfAll(parent)).to.equal(peakMemoryBytes(parent) + peakMemoryBytes(child));
    expect(processorMsOfAll(parent)).to.be.at.least(worked);
    for (const pid of [parent, child]) process.kill(pid, 'SIGCONT');
    shell.stdin.end('\n');
    await once(shell, 'close');
    expect(() => residentBytesOfAll(parent)).to.throw();
  });
});
