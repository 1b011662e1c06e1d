/** `verbatim serve` as a process of its own, on a directory and a free port of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CALLS_VARIABLE, type AddonCall } from './addon-calls.js';
import { until } from './until.js';

const ROOT = join(__dirname, '..', '..');

export class Served {
  stdout = '';
  stderr = '';
  readonly #calls: string;

  private constructor(
    readonly directory: string,
    readonly child: ChildProcess,
  ) {
    this.#calls = join(directory, 'calls');
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  /** Its working directory is `directory`; the environment has these of the service's variables and none other. */
  static start(environment: Readonly<Record<string, string>> = {}, directory = workplace()): Served {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(VERBATIM|UV)_/.test(name));
    // For the process of its engine, too.
    const preload = ['tsx/cjs', join(__dirname, 'addon-calls.ts')].map((file) => `--require "${file}"`);
    const child = spawn(process.execPath, [join(ROOT, 'src', 'main.ts'), 'serve'], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(inherited),
        NODE_OPTIONS: preload.join(' '),
        VERBATIM_PORT: '0',
        ...environment,
        // Found from the working directory otherwise.
        NODE_PATH: join(ROOT, 'node_modules'),
        TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json'),
        [CALLS_VARIABLE]: join(directory, 'calls'),
      },
    });
    return new Served(directory, child);
  }

  async listening(): Promise<this> {
    await until(() => this.stdout.includes('listening on ') || this.child.exitCode !== null);
    if (this.child.exitCode !== null)
      throw new Error(`serve ended with ${this.child.exitCode}: ${this.stderr}`);
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
    if (!existsSync(this.#calls)) return [];
    const lines = readFileSync(this.#calls, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as AddonCall).filter(({ call }) => call === name);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'close');
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function workplace(): string {
  return mkdtempSync(join(tmpdir(), 'verbatim-serve-'));
}
