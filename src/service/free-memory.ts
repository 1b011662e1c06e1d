/**
 * How much memory another process may use: the smaller of the kernel's free memory and what the service's control
 * groups leave.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads a file of the kernel. null: there is no such file. */
export type ReadKernel = (path: string) => string | null;

/** The names that a version of control groups uses for the limit and the memory in use. */
interface Hierarchy {
  /** Finds the group in /proc/self/cgroup. */
  line: RegExp;
  root: string;
  limit: string;
  used: string;
  /** Finds, in memory.stat, the page cache that can be freed. */
  cached: RegExp;
}

/** A machine uses version 2 or version 1 for its memory. */
const HIERARCHIES: readonly Hierarchy[] = [
  {
    line: /^0::(\/.*)$/m,
    root: '/sys/fs/cgroup',
    ...{ limit: 'memory.max', used: 'memory.current' },
    cached: /^inactive_file (\d+)$/m,
  },
  {
    line: /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m,
    root: '/sys/fs/cgroup/memory',
    ...{ limit: 'memory.limit_in_bytes', used: 'memory.usage_in_bytes' },
    cached: /^total_inactive_file (\d+)$/m,
  },
];

/** Free memory in bytes. null: unknown. */
export function freeMemory(read: ReadKernel = readKernel): number | null {
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '')?.[1];
  const inGroups = HIERARCHIES.flatMap((hierarchy) => leftInGroups(hierarchy, read));
  const least = Math.min(kibibytes === undefined ? Infinity : Number(kibibytes) * 1024, ...inGroups);
  return Number.isFinite(least) ? Math.max(0, least) : null;
}

/** The memory left in each group that contains this process and has a limit. */
function leftInGroups(hierarchy: Hierarchy, read: ReadKernel): number[] {
  const path = hierarchy.line.exec(read('/proc/self/cgroup') ?? '')?.[1];
  if (path === undefined) return [];
  const parts = path.split('/').filter(Boolean);
  return [...parts.keys(), parts.length]
    .map((depth) => join(hierarchy.root, ...parts.slice(0, depth)))
    .flatMap((group) => leftIn(group, hierarchy, read) ?? []);
}

/** The memory left in one group, plus its page cache, which can be freed. */
function leftIn(group: string, { limit, used, cached }: Hierarchy, read: ReadKernel): number | null {
  const most = Number(read(join(group, limit)) ?? NaN);
  const taken = Number(read(join(group, used)) ?? NaN);
  if (!Number.isFinite(most) || !Number.isFinite(taken)) return null;
  return most - taken + Number(cached.exec(read(join(group, 'memory.stat')) ?? '')?.[1] ?? 0);
}

function readKernel(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
