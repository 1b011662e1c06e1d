import { expect } from 'chai';
import { freeMemory } from '../../src/service/free-memory.js';

const MIB = 2 ** 20;

function kernel(files: Record<string, string>): (path: string) => string | null {
  return (path) => files[path] ?? null;
}

describe('Free memory', () => {
  const meminfo = { '/proc/meminfo': 'MemTotal: 9 kB\nMemFree: 5 kB\nMemAvailable:    2048 kB\n' };

  it('is what the kernel has available', () => {
    expect(freeMemory(kernel(meminfo))).to.equal(2 * MIB);
  });

  it('is what the control group, or one that it is in, leaves, page cache included', () => {
    const files = {
      '/proc/meminfo': 'MemAvailable: 99999999 kB\n',
      '/proc/self/cgroup': '0::/system.slice/verbatim.service\n',
      '/sys/fs/cgroup/system.slice/memory.max': `${100 * MIB}\n`,
      '/sys/fs/cgroup/system.slice/memory.current': `${90 * MIB}\n`,
      '/sys/fs/cgroup/system.slice/memory.stat': `anon 7\ninactive_file ${3 * MIB}\n`,
      '/sys/fs/cgroup/system.slice/verbatim.service/memory.max': 'max\n',
      '/sys/fs/cgroup/system.slice/verbatim.service/memory.current': `${80 * MIB}\n`,
    };
    expect(freeMemory(kernel(files))).to.equal(13 * MIB);
    const own = { ...files, '/sys/fs/cgroup/system.slice/verbatim.service/memory.max': `${81 * MIB}\n` };
    expect(freeMemory(kernel(own))).to.equal(MIB);
    expect(freeMemory(kernel({ ...own, ...meminfo }))).to.equal(MIB);
  });

  it('is what a control group of version 1 leaves', () => {
    const files = {
      '/proc/meminfo': 'MemAvailable: 99999999 kB\n',
      '/proc/self/cgroup': '9:name=systemd:/\n4:memory:/docker/abc\n0::/\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${500 * MIB}\n`,
      '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': `${100 * MIB}\n`,
      '/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes': `${90 * MIB}\n`,
      '/sys/fs/cgroup/memory/docker/abc/memory.stat': `inactive_file 7\ntotal_inactive_file ${3 * MIB}\n`,
    };
    expect(freeMemory(kernel(files))).to.equal(13 * MIB);
    // A container sees its own group as the root, and the machine's name of it.
    const inside = {
      ...{ '/proc/meminfo': files['/proc/meminfo'], '/proc/self/cgroup': '4:cpu,memory:/docker/abc\n' },
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${10 * MIB}\n`,
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${4 * MIB}\n`,
    };
    expect(freeMemory(kernel(inside))).to.equal(6 * MIB);
  });

  it('is that of the root in a container, whose group has no name there', () => {
    const files = {
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/memory.max': `${10 * MIB}\n`,
      '/sys/fs/cgroup/memory.current': `${12 * MIB}\n`,
    };
    expect(freeMemory(kernel({ ...meminfo, ...files }))).to.equal(0);
  });

  it('is unknown where nobody says', () => {
    expect(freeMemory(kernel({}))).to.equal(null);
    expect(freeMemory(kernel({ '/proc/self/cgroup': '1:memory:/old\n' }))).to.equal(null);
  });

  it('is some on this machine', () => {
    expect(freeMemory()).to.be.above(0);
  });
});
