/**
 * The share of the processors that a conversion gets beside the threads that compute. Linux can share processors out by
 * session (sched_autogroup). Then a thread's nice value counts within its session only, and the session's own nice
 * value counts against other sessions. A conversion is a session of its own, so both values are lowered.
 *
 * Processes that the first process of a machine starts are in no session as long as none of them has made one. The
 * scheduler weighs their threads one by one against whole sessions. There the conversion's session gets the nice value
 * that its threads would have.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { lowerPriority } from '../process/child.js';

/** In steps of nice(2) below this process and its session. */
export interface Priority {
  threads: number;
  session: number;
}

/**
 * As the threads that compute. A conversion's one thread has all of its session's share; five steps make that two
 * fifths of a core.
 */
export const USUAL: Priority = { threads: 10, session: 5 };
/** As low as there is. */
export const DEMOTED: Priority = { threads: 19, session: 19 };

/** False where Linux does not take the session's now: ordinary users may change one in a tenth of a second. */
export function setPriority(pid: number | undefined, priority: Priority): boolean {
  if (pid === undefined) return true;
  lowerPriority(pid, priority.threads);
  if (niceOfSession(pid) === null) return true;
  const nice = niceOfNewSession(priority, { threads: getPriority(), session: niceOfSession() });
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  }
}

/** The nice value of a session that a process starts; of `own`, `session` is null where that process is in none. */
export function niceOfNewSession(
  { threads, session }: Priority,
  own: { threads: number; session: number | null },
): number {
  const nice = own.session === null ? own.threads + threads : own.session + session;
  return Math.min(nice, constants.priority.PRIORITY_LOW);
}

/** null: this kernel knows nothing of it, or the process is in no session of that kind. */
export function niceOfSession(pid: number | 'self' = 'self'): number | null {
  try {
    const found = / nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, 'latin1'));
    return found === null ? null : Number(found[1]);
  } catch {
    return null;
  }
}
