/** What processes used, for reports. */
import { readdirSync, readFileSync } from 'node:fs';

/** Largest resident set so far, bytes; of this program alone, which resourceUsage().maxRSS is not after a fork. */
export function peakMemoryBytes(pid: number | 'self' = 'self'): number {
  return statusBytes(pid, 'VmHWM');
}

export function residentBytes(pid: number | 'self' = 'self'): number {
  return statusBytes(pid, 'VmRSS');
}

function statusBytes(pid: number | 'self', field: string): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no ${field}.`);
  return Number(kilobytes) * 1024;
}

/** Linux counts in hundredths of a second, whatever the kernel's own. */
const TICKS_PER_SECOND = 100;
/** Of /proc/PID/stat, counted from behind the program's name, which may have spaces in it. */
const USER_TICKS = 11;

/** Time in all its threads so far, milliseconds, to 10 ms. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = fields.slice(USER_TICKS).map(Number);
  if (user === undefined || system === undefined) throw new Error(`/proc/${pid}/stat is short.`);
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}

/** A process, its children, theirs, and so on: a server has its engine in one of them. */
export function withDescendants(pid: number): number[] {
  return [pid, ...childrenOfProcess(pid).flatMap(withDescendants)];
}

/** Of a process and its descendants; what they share is counted for each. */
export function residentBytesOfAll(pid: number): number {
  return sumOver(withDescendants(pid), residentBytes);
}

/** Of a process and its descendants that are there, each at its own time: no less than what they held together. */
export function peakMemoryBytesOfAll(pid: number): number {
  return sumOver(withDescendants(pid), peakMemoryBytes);
}

/** As processorMs(), of a process and its descendants; of those that have ended nothing. */
export function processorMsOfAll(pid: number): number {
  return sumOver(withDescendants(pid), processorMs);
}

function childrenOfProcess(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  } catch {
    // It, or a thread of its, has ended meanwhile.
    return [];
  }
}

/** The first must be there; the others may have ended meanwhile. */
function sumOver(pids: readonly number[], figure: (pid: number) => number): number {
  const [first = 0, ...others] = pids;
  const found = others.map((pid) => {
    try {
      return figure(pid);
    } catch {
      return 0;
    }
  });
  return found.reduce((sum, one) => sum + one, figure(first));
}

/** Cores kept busy on average between the call and the call of what it returns. */
export function watchProcessor(): () => number {
  const used = process.cpuUsage();
  const start = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(used);
    return (user + system) / 1000 / (performance.now() - start);
  };
}
