/**
 * What a conversion gets of a processor beside what computes. It is a session of its own, and where Linux shares
 * processors out by session (sched_autogroup) the priority of a thread counts within its session only: then the
 * session's counts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { lowerPriority } from '../process/child.js';

/** In steps of nice(2) below this process and its session. */
export interface Priority {
  threads: number;
  session: number;
}

/** As the threads that compute. A session with one thread has it all; five steps make that two fifths of a core. */
export const USUAL: Priority = { threads: 10, session: 5 };
/** As low as there is. */
export const DEMOTED: Priority = { threads: 19, session: 19 };

/** False where Linux does not take the session's now: ordinary users may change one in a tenth of a second. */
export function setPriority(pid: number | undefined, { threads, session }: Priority): boolean {
  if (pid === undefined) return true;
  lowerPriority(pid, threads);
  const own = niceOfSession();
  if (own === null) return true;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(Math.min(own + session, constants.priority.PRIORITY_LOW)));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  }
}

/** null: this kernel knows nothing of it. */
export function niceOfSession(pid: number | 'self' = 'self'): number | null {
  try {
    const found = / nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, 'latin1'));
    return found === null ? null : Number(found[1]);
  } catch {
    return null;
  }
}
