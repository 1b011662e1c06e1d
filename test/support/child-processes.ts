/**
 * Processes that this one has started and that are not gone, as Linux reports them. A process that is becoming another
 * program has no command for a moment: who looks for one by its command asks until it is there, and keeps what was
 * found.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface ChildProcess {
  pid: number;
  command: string;
  /** R, S, T (stopped), Z (nobody has asked yet how it ended), … */
  state: string;
}

export function childrenOf(parent: number = process.pid): ChildProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processOf(Number(name)))
    .filter((found) => found.parent === parent)
    .map(({ pid, command, state }) => ({ pid, command, state }));
}

/** Children, their children, and so on. */
export function descendantsOf(parent: number = process.pid): ChildProcess[] {
  return childrenOf(parent).flatMap((child) => [child, ...descendantsOf(child.pid)]);
}

/** Those that run a conversion, whose child they are: of setpriv, of prlimit, of ffmpeg. */
export function conversionsOf(parent: number = process.pid): ChildProcess[] {
  return descendantsOf(parent).filter(({ command }) => command.includes('-progress'));
}

/** Those that decode a live stream: setpriv, which becomes prlimit, which becomes ffmpeg. */
export function liveDecodersOf(parent: number = process.pid): ChildProcess[] {
  return childrenOf(parent).filter(({ command, state }) => command.includes('pipe:0') && state !== 'Z');
}

/** Processes of the deadly engine (support/deadly-engine.ts). */
export function deadlyEngines(): number[] {
  return childrenOf().flatMap(({ pid, command }) => (command.includes('deadly-engine') ? [pid] : []));
}

/** As ChildProcess.state; null: it is gone. */
export function stateOf(pid: number): string | null {
  return processOf(pid)[0]?.state ?? null;
}

export function isAlive(pid: number): boolean {
  return processOf(pid).some(({ state }) => state !== 'Z');
}

function processOf(pid: number): (ChildProcess & { parent: number })[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
    return [{ pid, command, state, parent: Number(parent) }];
  } catch {
    // It is gone meanwhile.
    return [];
  }
}
