/** The command line on a terminal of its own, as a person sits at it; util-linux's `script` makes one. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { verbatim } from './built.js';
import { until } from './until.js';

export class Terminal {
  /** What was written there, with its control sequences; lines end with "\r\n". */
  written = '';
  readonly #ended: Promise<number | null>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.written += text));
    this.#ended = once(child, 'close').then(([status]) => status as number | null);
  }

  /** `more`: of the shell, such as "> FILE". The environment has these of the service's variables and none other. */
  static start(words: readonly string[], environment: Readonly<Record<string, string>>, more = ''): Terminal {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(VERBATIM|HF)_/.test(name));
    const quoted = [process.execPath, ...verbatim(...words)].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const command = `stty cols ${COLUMNS}; exec ${quoted.join(' ')} ${more}`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], {
      env: { ...Object.fromEntries(inherited), SHELL: '/bin/sh', TERM: 'xterm', ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    return new Terminal(child);
  }

  async shows(text: string): Promise<void> {
    const isOver = (): boolean => this.child.exitCode !== null;
    await until(() => this.written.includes(text) || isOver(), `"${text}" on the terminal`);
    if (!this.written.includes(text)) throw new Error(`never showed "${text}": ${this.written}`);
  }

  /** "\x03" is Ctrl-C. */
  type(text: string): void {
    this.child.stdin?.write(text);
  }

  /** The exit code; of a command that a signal ended 128 and more. */
  async ended(): Promise<number | null> {
    const status = await this.#ended;
    this.child.stdin?.end();
    return status;
  }

  /** All that was written as text, whether it stayed or was drawn over. */
  get drawn(): string[] {
    // eslint-disable-next-line no-control-regex -- the sequences that move the cursor or clear a line
    return this.written.split(/[\r\n]|\x1b\[[0-9;?]*[A-Za-z]/);
  }
}

export const COLUMNS = 72;
