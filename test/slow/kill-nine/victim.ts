import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { answersPreload, RecordedAnswers } from '../../support/recorded-answers.js';

export interface VictimOptions {
  database: string;
  secret: string;
  uploads: string;
  /** The whole service with its model instead of the quick engine. */
  real: boolean;
  /** Of the whole service; default: the one that is installed. */
  ffmpeg?: string;
}

/** A server in a process of its own, made to be killed. */
export class Victim {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
    private readonly answers: RecordedAnswers,
  ) {}

  static async start(options: VictimOptions): Promise<Victim> {
    const answers = RecordedAnswers.inOwnDirectory();
    const { environment } = answers;
    const child = options.real ? spawnReal(options, environment) : spawnQuick(options, environment);
    const exited = once(child, 'close');
    if (child.stdout === null) throw new Error('The server has no standard output.');
    for await (const line of createInterface(child.stdout)) {
      const url = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (url !== undefined) return new Victim(child, url, answers);
    }
    await exited;
    throw new Error(`The server ended with ${child.exitCode ?? child.signalCode ?? '?'} before it listened.`);
  }

  get pid(): number {
    return this.process.pid!;
  }

  async kill(): Promise<void> {
    const exited = once(this.process, 'close');
    this.process.stdout?.destroy();
    this.process.kill('SIGKILL');
    await exited;
    this.answers.finish(0);
  }
}

type Environment = Readonly<Record<string, string>>;

function spawnQuick({ database, secret, uploads }: VictimOptions, environment: Environment): ChildProcess {
  const script = join(__dirname, 'quick-server.ts');
  return spawn(
    process.execPath,
    ['--require', answersPreload(), '--require', 'tsx/cjs', script, database, secret, uploads],
    {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
}

function spawnReal(options: VictimOptions, environment: Environment): ChildProcess {
  const { database, secret, uploads, ffmpeg } = options;
  const script = join(__dirname, '../../../src/main.ts');
  return spawn(process.execPath, ['--require', answersPreload(), '--require', 'tsx/cjs', script, 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...environment,
      ...{
        VERBATIM_DATABASE: database,
        VERBATIM_SECRET: secret,
        VERBATIM_PORT: '0',
        VERBATIM_DATA_DIR: uploads,
      },
      ...{ VERBATIM_LOG_LEVEL: 'error', VERBATIM_MAX_IN_FLIGHT: '1000' },
      ...(ffmpeg === undefined ? {} : { VERBATIM_FFMPEG: ffmpeg }),
    },
  });
}
