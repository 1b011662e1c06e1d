import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { KeyHolder } from './support.js';

/** child.ts in a process of its own. */
export class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown>;
  #errors = '';
  #wake: () => void = () => undefined;

  constructor(command: string, path: string, who?: KeyHolder) {
    const child = join(__dirname, 'child.ts');
    const args = ['--require', 'tsx/cjs', child, command, path, who?.account.id ?? '', who?.key.id ?? ''];
    this.#process = spawn(process.execPath, args);
    this.#process.stderr.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
    this.#process.stdin.on('error', () => undefined); // it may be dead already
    this.#exited = once(this.#process, 'close').then(() => this.#wake());
    createInterface(this.#process.stdout).on('line', (line) => {
      this.lines.push(line);
      this.#wake();
    });
  }

  /** The rest of the first line that begins with `word`. */
  async waitFor(word: string): Promise<string> {
    const [line] = await this.waitForLines(word, 1);
    return line!.slice(word.length + 1);
  }

  /** Resolves when `count` lines begin with `word`. */
  async waitForLines(word: string, count: number): Promise<string[]> {
    for (;;) {
      const lines = this.lines.filter((candidate) => candidate.startsWith(`${word} `));
      if (lines.length >= count) return lines;
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        throw new Error(`The child ended without saying "${word}": ${this.#errors}`);
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async start(): Promise<void> {
    await this.waitFor('ready');
    this.#process.stdin.write('go\n');
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  /** Lets it close its ledger. */
  async end(): Promise<void> {
    this.#process.stdin.end();
    await this.#exited;
    if (this.#process.exitCode !== 0) throw new Error(`The child failed: ${this.#errors}`);
  }
}
