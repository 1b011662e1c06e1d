/**
 * How much memory another process may take: the smaller of the kernel's free memory and the rest of this service's
 * control group.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads a file of the kernel's; null: there is no such file. */
export type ReadKernel = (path: string) => string | null;

const CGROUPS = '/sys/fs/cgroup';

/** Bytes; null where this machine does not say. */
export function freeMemory(read: ReadKernel = readKernel): number | null {
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '')?.[1];
  const known = [kibibytes === undefined ? null : Number(kibibytes) * 1024, leftInGroup(read)];
  const least = Math.min(...known.map((bytes) => bytes ?? Infinity));
  return Number.isFinite(least) ? least : null;
}

/** Of a unified hierarchy (version 2), in any of the groups that this process is in; null where none has a limit. */
function leftInGroup(read: ReadKernel): number | null {
  const path = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1];
  if (path === undefined) return null;
  const parts = path.split('/').filter(Boolean);
  const left = [...parts.keys(), parts.length]
    .map((depth) => join(CGROUPS, ...parts.slice(0, depth)))
    .flatMap((group) => leftIn(group, read) ?? []);
  return left.length === 0 ? null : Math.max(0, Math.min(...left));
}

/** The group's page cache can be freed. */
function leftIn(group: string, read: ReadKernel): number | null {
  const limit = Number(read(join(group, 'memory.max')) ?? NaN);
  const used = Number(read(join(group, 'memory.current')) ?? NaN);
  if (!Number.isFinite(limit) || !Number.isFinite(used)) return null;
  const cached = /^inactive_file (\d+)$/m.exec(read(join(group, 'memory.stat')) ?? '')?.[1] ?? 0;
  return limit - used + Number(cached);
}

function readKernel(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
