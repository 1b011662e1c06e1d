/**
 * What a server holds at a moment: memory, descriptors and threads of each of its processes, files, rows that wait for
 * something.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../../src/ledger/sqlite/driver.js';
import { residentBytes } from '../../../bench/processes/process-usage.js';
import type { VerbatimProcess } from '../../../bench/processes/verbatim-process.js';
import { descendantsOf } from '../../support/child-processes.js';

/** By what it is of: 'server memory (MiB)', 'open holds', … A process that does not run has none. */
export type Footprint = Readonly<Record<string, number>>;

/** Of the server's processes, by the file that each runs, of the sources or of a build. */
const ROLES = { engine: 'engine-process', speakers: 'speaker-process' };

/** Rows that are there while something is under way. */
const WAITING = {
  'open holds': 'holds WHERE settled_at IS NULL',
  'requests under an Idempotency-Key': 'idempotency_records WHERE instance_id IS NOT NULL',
  'open jobs': 'jobs WHERE finished_at IS NULL',
  'webhooks to be sent': 'webhook_events WHERE due_at IS NOT NULL',
};

/** `temporary`: what the server has as its directory for temporary files. */
export function footprintOf(server: VerbatimProcess, temporary: string): Footprint {
  const { pid, directory } = server;
  const others = descendantsOf(pid).filter(({ state }) => state !== 'Z');
  const found: Record<string, number> = { ...processFootprint('server', pid), 'other processes': 0 };
  for (const { pid: child, command } of others) {
    const [role] = Object.entries(ROLES).find(([, file]) => command.includes(file)) ?? [];
    if (role === undefined) found['other processes']! += 1;
    else Object.assign(found, processFootprint(role, child));
  }
  found['files'] = filesOfClients(server, temporary).length;
  return { ...found, ...waitingRows(join(directory, 'verbatim.db')) };
}

/** Names of all that lies there but for the ledger: of uploads, of what was made of them, of jobs. */
export function filesOfClients({ directory }: Pick<VerbatimProcess, 'directory'>, temporary: string): string[] {
  const isOfLedger = (name: string): boolean => /^verbatim\.db(-|\.|$)/.test(name);
  return [...filesIn(directory).filter((name) => !isOfLedger(name)), ...filesIn(temporary)];
}

/** The engine's process of that server, null while there is none. */
export function enginePid(server: Pick<VerbatimProcess, 'pid'>): number | null {
  return descendantsOf(server.pid).find(({ command }) => command.includes(ROLES.engine))?.pid ?? null;
}

function processFootprint(role: string, pid: number): Record<string, number> {
  try {
    const threads = /^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return {
      [`${role} memory (MiB)`]: residentBytes(pid) / 2 ** 20,
      [`${role} descriptors`]: readdirSync(`/proc/${pid}/fd`).length,
      [`${role} threads`]: Number(threads),
    };
  } catch {
    // It has ended since.
    return {};
  }
}

/** Names in it, of files alone: the control socket is there as long as the server is. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !entry.isSocket())
    .map(({ name }) => name);
}

function waitingRows(path: string): Record<string, number> {
  const database = new Database(path, { fileMustExist: true, readonly: true, timeout: 5000 });
  try {
    return Object.fromEntries(
      Object.entries(WAITING).map(([name, rows]) => {
        const { n } = database.prepare<[], { n: number }>(`SELECT count(*) AS n FROM ${rows}`).get()!;
        return [name, n];
      }),
    );
  } finally {
    database.close();
  }
}
