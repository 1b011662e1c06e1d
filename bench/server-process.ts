/** Starts `verbatim serve` as its own process on a fresh database and a free port, the way a user would. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const main = join(__dirname, '..', 'dist', 'main.js');

export interface ServerProcess {
  url: string;
  apiKey: string;
  managementKey: string;
  child: ChildProcess;
  /** Resident set size, bytes. */
  residentBytes(): number;
  /** Highest resident set size so far, bytes. */
  peakResidentBytes(): number;
  stop(): Promise<void>;
}

export async function startServerProcess(env: Record<string, string> = {}): Promise<ServerProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const child = spawn(process.execPath, [main, 'serve'], {
    env: {
      ...process.env,
      VERBATIM_PORT: '0',
      VERBATIM_DATABASE: join(directory, 'verbatim.db'),
      VERBATIM_LOG_LEVEL: 'warn',
      // As `npm start` and the `verbatim` command set them; see README.md, Tuning.
      MALLOC_ARENA_MAX: '2',
      MALLOC_MMAP_THRESHOLD_: '131072',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, keys } = await startUpLines(child);
  const status = (field: string): number => {
    const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
      readFileSync(`/proc/${child.pid}/status`, 'utf8'),
    );
    return Number(line?.[1] ?? 0) * 1024;
  };
  return {
    url,
    apiKey: keys[0] ?? '',
    managementKey: keys[1] ?? '',
    child,
    residentBytes: () => status('VmRSS'),
    peakResidentBytes: () => status('VmHWM'),
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(directory, { recursive: true });
    },
  };
}

async function startUpLines(child: ChildProcess): Promise<{ url: string; keys: string[] }> {
  if (child.stdout === null) throw new Error('The server has no standard output.');
  const keys: string[] = [];
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    url ||= /^listening on (\S+)$/.exec(line)?.[1] ?? '';
    const key = /^ {2}(?:API|management) key\s+(vb_\S+)$/.exec(line)?.[1];
    if (key !== undefined) keys.push(key);
    if (url !== '' && keys.length === 2) return { url, keys };
  }
  throw new Error(`The server stopped before it was ready (exit code ${child.exitCode}).`);
}
