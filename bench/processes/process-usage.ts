/** What this process used, for reports. */
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

/** Cores kept busy on average between the call and the call of what it returns. */
export function watchProcessor(): () => number {
  const used = process.cpuUsage();
  const start = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(used);
    return (user + system) / 1000 / (performance.now() - start);
  };
}
