/** A server in a process of its own, with nothing left behind when it is stopped. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { HttpTarget } from '../load/http-target.js';

export interface ServerUnderTest {
  readonly target: HttpTarget;
  readonly pid: number;
  stop(): Promise<void>;
}

const KILL_AFTER_MS = 10_000;

/** whisper-server ends what it is at before it ends; nobody waits for that. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  await exited;
  clearTimeout(timer);
}
