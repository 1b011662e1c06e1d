/** What processes used, for reports. */
import { readFileSync } from 'node:fs';

/** Largest resident set so far, bytes; of this program alone, which resourceUsage().maxRSS is not after a fork. */
export function peakMemoryBytes(pid: number | 'self' = 'self'): number {
  return statusBytes(pid, 'VmHWM');
}

export function residentBytes(pid: number | 'self' = 'self'): number {
  return statusBytes(pid, 'VmRSS');
}

function statusBytes(pid: number | 'self', field: string): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1];
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

/** Cores kept busy on average between the call and the call of what it returns. */
export function watchProcessor(): () => number {
  const used = process.cpuUsage();
  const start = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(used);
    return (user + system) / 1000 / (performance.now() - start);
  };
}
