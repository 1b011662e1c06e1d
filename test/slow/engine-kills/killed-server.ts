/** `verbatim serve`, as it is built, whose engine's process is killed again and again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, isAlive } from '../../support/child-processes.js';
import { answersPreload, RecordedAnswers } from '../../support/recorded-answers.js';
import { builtMain } from '../built-main.js';

const LOOK_MS = 25;
/** Longer than any of what is waited for takes, however busy the machine is. */
const WATCHDOG_MS = 300_000;

export type EngineSignal = 'SIGKILL' | 'SIGSEGV' | 'SIGSTOP';

export interface EngineKill {
  signal: EngineSignal;
  pid: number;
  /** performance.now() */
  at: number;
  /** Until work could be done again, milliseconds. */
  recoveryMs: number;
}

export class KilledServer {
  readonly log: Record<string, unknown>[] = [];

  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly answers: RecordedAnswers,
  ) {
    if (child.stderr === null) throw new Error('The server has no standard error.');
    createInterface(child.stderr).on('line', (line) => {
      if (line.startsWith('{')) this.log.push(JSON.parse(line) as Record<string, unknown>);
    });
  }

  static async start(environment: Readonly<Record<string, string>>): Promise<KilledServer> {
    const answers = RecordedAnswers.inOwnDirectory();
    const own = { VERBATIM_PORT: '0', VERBATIM_LOG_LEVEL: 'error', ...answers.environment };
    const child = spawn(process.execPath, ['--require', answersPreload(), builtMain, 'serve'], {
      env: { ...process.env, ...own, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for await (const line of createInterface(child.stdout)) {
      const url = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (url !== undefined) return new KilledServer(url, child, answers);
    }
    throw new Error(`The server ended with ${child.exitCode ?? child.signalCode ?? '?'} before it listened.`);
  }

  /** Those that serve or try, started already or about to. */
  get engines(): number[] {
    const all = descendantsOf(this.child.pid).filter(({ command, state }) => {
      return state !== 'Z' && command.includes('engine-process');
    });
    return all.map(({ pid }) => pid);
  }

  /** Work can be done, and no request runs in isolation. */
  async calm(): Promise<number> {
    const isCalm = async (): Promise<boolean> => this.engines.length === 1 && (await this.isReady());
    await this.#until(isCalm, 'one process that serves');
    return this.engines[0]!;
  }

  async isReady(): Promise<boolean> {
    const { status } = await fetch(`${this.url}/readyz`);
    return status === 200;
  }

  /** `stoppedMs`: before the signal it stands still for so long, and takes work that it does not do. */
  async kill(signal: EngineSignal, stoppedMs = 0): Promise<EngineKill> {
    const pid = await this.calm();
    if (stoppedMs > 0) {
      process.kill(pid, 'SIGSTOP');
      await sleep(stoppedMs);
    }
    const at = performance.now();
    // One that stands still may be taken for dead before.
    if (isAlive(pid)) process.kill(pid, signal);
    // A stop that lasted: if it is not taken for dead by then, it goes on.
    const goesOn = setTimeout(() => isAlive(pid) && process.kill(pid, 'SIGCONT'), 20_000);
    await this.#until(() => Promise.resolve(!isAlive(pid)), `the end of ${pid} after ${signal}`);
    clearTimeout(goesOn);
    // Before, the server may not know yet that it has none.
    const isFresh = async (): Promise<boolean> =>
      this.engines.some((engine) => engine !== pid) && (await this.isReady());
    await this.#until(isFresh, `a fresh process after ${signal}`);
    return { signal, pid, at, recoveryMs: performance.now() - at };
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    await once(this.child, 'close');
    this.answers.finish(1);
  }

  async #until(condition: () => Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + WATCHDOG_MS;
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error(`never came true: ${what}`);
      await sleep(LOOK_MS);
    }
  }
}
