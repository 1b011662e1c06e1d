/** `verbatim serve` as a process of its own, on a directory and a free port of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CALLS_VARIABLE, type AddonCall } from './preload/addon-calls.js';
import type { SentAnswer, UnseenAnswer } from './preload/sent-answers.js';
import { built, verbatim } from './built.js';
import { answersPreload, jsonLines, RecordedAnswers } from './recorded-answers.js';
import { until } from './until.js';

export class Served {
  stdout = '';
  stderr = '';
  /** Servers of a directory that run. */
  static readonly #ofDirectory = new Map<string, Set<Served>>();
  readonly #calls: string;
  readonly #answers: RecordedAnswers;

  private constructor(
    readonly directory: string,
    readonly child: ChildProcess,
    answers: RecordedAnswers,
  ) {
    this.#answers = answers;
    const others = Served.#ofDirectory.get(directory) ?? new Set();
    Served.#ofDirectory.set(directory, others.add(this));
    child.once('close', () => others.delete(this));
    this.#calls = join(directory, 'calls');
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  /**
   * Its working directory is `directory`; the environment has these of the service's variables and none other.
   * `within`: the words of a command that runs the words after it in its own place.
   */
  static start(
    environment: Readonly<Record<string, string>> = {},
    directory = workplace(),
    flags: readonly string[] = [],
    within: readonly string[] = [],
  ): Served {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(VERBATIM|UV)_/.test(name));
    // For the process of its engine, too.
    const preload = ['addon-calls.js', 'hours.js'].map((file) => built('test', 'support', 'preload', file));
    const required = [...preload, answersPreload()].map((file) => `--require "${file}"`);
    const answers = new RecordedAnswers(join(directory, 'answers'));
    const [command = '', ...words] = [...within, process.execPath, ...verbatim('serve', ...flags)];
    const child = spawn(command, words, {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(inherited),
        NODE_OPTIONS: required.join(' '),
        VERBATIM_PORT: '0',
        // Nothing of the tests reaches for a network.
        VERBATIM_AUTO_MODEL: 'off',
        ...environment,
        [CALLS_VARIABLE]: join(directory, 'calls'),
        ...answers.environment,
      },
    });
    return new Served(directory, child, answers);
  }

  async listening(): Promise<this> {
    await until(() => this.stdout.includes('listening on ') || this.child.exitCode !== null);
    if (this.child.exitCode !== null) throw new Error(`serve ended with ${this.child.exitCode}: ${this.stderr}`);
    return this;
  }

  /** Of a start that does not succeed. */
  async ended(): Promise<number | null> {
    if (this.child.exitCode === null) await once(this.child, 'close');
    return this.child.exitCode;
  }

  get url(): string {
    return /^listening on (\S+)$/m.exec(this.stdout)?.[1] ?? '';
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Of the account that the first start makes. */
  async key(): Promise<string> {
    const key = (): string | undefined => /API key +(\S+)/.exec(this.stdout)?.[1];
    await until(() => key() !== undefined);
    return key() ?? '';
  }

  /** What it has asked of the addon so far. */
  calls(name: AddonCall['call']): AddonCall[] {
    return jsonLines<AddonCall>(this.#calls).filter(({ call }) => call === name);
  }

  /** The directory goes with its last server. */
  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'close');
    }
    this.#answers.check();
    const running = Served.#ofDirectory.get(this.directory);
    if (running?.size === 0) rmSync(this.directory, { recursive: true, force: true });
  }

  /** What it has answered so far. */
  answers(): (SentAnswer | UnseenAnswer)[] {
    return this.#answers.read();
  }
}

export function workplace(): string {
  return mkdtempSync(join(tmpdir(), 'verbatim-serve-'));
}
