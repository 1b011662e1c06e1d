/**
 * A control group with a limit on memory, below the one that this process is in. As root. The machines that ran this so
 * far had version 1.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const UNIFIED = '/sys/fs/cgroup';
/** Of version 1, where memory is a hierarchy of its own. */
const MEMORY = '/sys/fs/cgroup/memory';

interface Files {
  limit: string;
  peak: string;
  kills: string;
}

const OF_VERSION_2: Files = { limit: 'memory.max', peak: 'memory.peak', kills: 'memory.events' };
const OF_VERSION_1: Files = {
  ...{ limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes', kills: 'memory.oom_control' },
};

export class MemoryGroup {
  readonly version: 1 | 2 = existsSync(join(MEMORY, OF_VERSION_1.limit)) ? 1 : 2;
  readonly path: string;
  readonly #files = this.version === 1 ? OF_VERSION_1 : OF_VERSION_2;

  constructor(bytes: number) {
    // In version 2 only the root has both processes and groups.
    const above = this.version === 1 ? join(MEMORY, ownGroup()) : UNIFIED;
    this.path = join(above, `verbatim-first-hour-${process.pid}`);
    mkdirSync(this.path);
    this.limit(bytes);
  }

  limit(bytes: number): void {
    writeFileSync(join(this.path, this.#files.limit), String(bytes));
  }

  /** Words that run the words after them in the group. */
  get within(): string[] {
    return ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', this.path];
  }

  /** Bytes; page cache counts, and so it may reach the limit. */
  get peakBytes(): number {
    return Number(this.#read('peak'));
  }

  /** Processes that the kernel killed for want of memory. */
  get kills(): number {
    return Number(/^oom_kill (\d+)$/m.exec(this.#read('kills'))?.[1]);
  }

  /** Its processes have ended. */
  remove(): void {
    rmdirSync(this.path);
  }

  #read(file: keyof Files): string {
    return readFileSync(join(this.path, this.#files[file]), 'utf8');
  }
}

function ownGroup(): string {
  return /^\d+:memory:(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
}
