/** Runs the blocks of a document in order, as a reader would, against a service of its own. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/package-root.js';
import { verbatim } from '../built.js';
import { Served } from '../served.js';
import type { Block } from './blocks.js';

const CLIP = join(packageRoot, 'test', 'fixtures', 'audio', 'formats', 'es-08-vbr.mp3');
/** Where the documents say that the service listens. */
const DOCUMENTED = /http:\/\/127\.0\.0\.1:8080|ws:\/\/127\.0\.0\.1:8080/g;
const STATE = 'shell-state';

export class PageRunner {
  private constructor(private readonly served: Served) {}

  static async start(): Promise<PageRunner> {
    const served = await Served.start().listening();
    const { directory } = served;
    for (const name of ['models', 'node_modules']) symlinkSync(join(packageRoot, name), join(directory, name));
    for (const name of ['talk.mp3', 'interview.mp3']) copyFileSync(CLIP, join(directory, name));
    const runner = new PageRunner(served);
    runner.set({ KEY: await served.key() });
    return runner;
  }

  get directory(): string {
    return this.served.directory;
  }

  stop(): Promise<void> {
    return this.served.stop();
  }

  /** Variables for the blocks that follow. */
  set(variables: Readonly<Record<string, string>>): void {
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`);
    const before = existsSync(this.#state) ? readFileSync(this.#state, 'utf8') : '';
    writeFileSync(this.#state, before + lines.join(''));
  }

  get #state(): string {
    return join(this.directory, STATE);
  }

  /** What a block of shell prints; variables that it exports stay. Rejects if a command of it fails. */
  async shell(code: string): Promise<string> {
    const npx = `npx() { shift; "${process.execPath}" ${verbatim()
      .map((word) => `"${word}"`)
      .join(' ')} "$@"; }`;
    const script = `set -eu\n. ./${STATE}\n${npx}\n${this.#here(code)}\nexport -p > ${STATE}\n`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      cwd: this.directory,
      env: { PATH: process.env['PATH'] ?? '', HOME: this.directory },
    });
    return stdout;
  }

  /** Saves a program under the name that the document gives it. */
  save({ file, code }: Pick<Block, 'file' | 'code'>): void {
    if (file === null) throw new Error('The document does not say what to save this as.');
    writeFileSync(join(this.directory, file), this.#here(code));
  }

  #here(code: string): string {
    const { host } = new URL(this.served.url);
    return code.replaceAll(DOCUMENTED, (address) => address.replace('127.0.0.1:8080', host));
  }
}
