/** `verbatim serve` with empty directories and a hub: what it says, how far it is, and how it answers. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ModelSpeeds } from '../../../src/models/automatic-model.js';
import { packageRoot } from '../../../src/package-root.js';
import { readSpeeds, writeSpeeds } from '../../../src/service/automatic-model/speed-file.js';
import { readConfig } from '../../../src/service/config.js';
import { CHECK_CLIP } from '../../../src/service/model-check.js';
import { runCommand } from '../../support/cli.js';
import { HOUR_VARIABLE } from '../../support/preload/hours.js';
import { Served, workplace } from '../../support/served.js';
import { until } from '../../support/until.js';
import type { PublishedHub } from './published-hub.js';

/** Of a measurement, a download or a swap, on a machine that does much else. */
export const WATCHDOG_MS = 15 * 60_000;
const LOOK_MS = 200;
const HOUR_SIGNAL = 'SIGUSR2';

const INFO = 30;

interface LogLine {
  level: number;
  msg: string;
  time: string;
  model?: string;
  problem?: string;
  to?: string;
  err?: { message: string };
}

interface Readiness {
  model: string;
  next_model: { name: string | null; phase: string; received_bytes: number; problem: string | null } | null;
}

export interface NewInstallationOptions {
  /** What the machine is known to do; default: it is measured. */
  speeds?: ModelSpeeds;
  environment?: Readonly<Record<string, string>>;
  /** Words that run those after them in another place. */
  within?: (modelsDir: string) => readonly string[];
}

export class NewInstallation {
  readonly directory = workplace();
  readonly modelsDir = join(this.directory, 'models');
  readonly settings = { VERBATIM_DATA_DIR: join(this.directory, 'data'), VERBATIM_MODELS_DIR: this.modelsDir };
  readonly served: Served;
  #key: string | null = null;

  constructor(hub: PublishedHub, { speeds, environment = {}, within = () => [] }: NewInstallationOptions = {}) {
    hub.register(this.modelsDir);
    if (speeds !== undefined) writeSpeeds(readConfig(this.settings, packageRoot), speeds);
    this.served = Served.start(
      {
        ...{ VERBATIM_AUTO_MODEL: '', HF_ENDPOINT: hub.url, [HOUR_VARIABLE]: HOUR_SIGNAL },
        // A problem that was reported before is logged so.
        VERBATIM_LOG_LEVEL: 'debug',
        ...this.settings,
        ...environment,
      },
      this.directory,
      [],
      within(this.modelsDir),
    );
  }

  /** As it was found to be, in times real time. */
  get speeds(): ModelSpeeds | null {
    return readSpeeds(readConfig(this.settings, packageRoot));
  }

  /** By curl, in the server's own network. */
  async readiness(): Promise<Readiness> {
    await this.served.listening();
    return JSON.parse(await this.#curl('/readyz')) as Readiness;
  }

  serves(model: string): Promise<void> {
    return this.#until(`${model} serves`, (readiness) => readiness.model === model);
  }

  phase(phase: string): Promise<void> {
    return this.#until(`the phase is "${phase}"`, ({ next_model: next }) => next?.phase === phase);
  }

  /** Resolves to whichever it is. */
  async servesAny(): Promise<string> {
    const served = (): string | undefined => /^(\S+) serves now\.$/m.exec(this.served.stdout)?.[1];
    await until(() => served() !== undefined, 'a model serves', WATCHDOG_MS);
    return served()!;
  }

  async receives(bytes: number): Promise<void> {
    await this.#until(`${bytes} bytes are here`, ({ next_model: next }) => next?.received_bytes === bytes);
  }

  /** The attempt that waits for an hour begins; it has another problem, the same one, or none. */
  async hourPasses(): Promise<void> {
    const before = this.attempts.length;
    this.served.child.kill(HOUR_SIGNAL);
    await this.#until('another attempt', ({ next_model: next }) => next === null || this.attempts.length > before);
  }

  /** The clip is answered by the demonstration model, as ever. */
  async expectDemonstration(): Promise<void> {
    this.#key ??= await this.served.key();
    const answer = JSON.parse(
      await this.#curl(
        '/api/v1/transcribe',
        '-H',
        `Authorization: Bearer ${this.#key}`,
        '-F',
        `audio=@${CHECK_CLIP.path}`,
      ),
    ) as { text: string; warnings: { code: string }[] };
    expect(answer.text).to.equal(CHECK_CLIP.text);
    expect(answer.warnings.map(({ code }) => code)).to.include('demonstration_model');
  }

  /** By the line that the first start prints, with another file; a model that is no demonstration answers. */
  async textOf(path: string): Promise<string> {
    const line = this.served.stdout.split('\n').find((text) => text.startsWith('  curl '))!;
    const command = `${line.replace(CHECK_CLIP.path, path)} --silent --show-error`;
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    const answer = JSON.parse(stdout) as { text: string; warnings?: { code: string }[] };
    expect((answer.warnings ?? []).map(({ code }) => code)).not.to.include('demonstration_model');
    return answer.text;
  }

  /** A file that the server sees, in whatever place it is. */
  seen(path: string): string {
    return join('/proc', String(this.served.child.pid), 'root', path);
  }

  /** Lines with these words, but for those of who looks for faults. */
  logged(words: string): LogLine[] {
    return this.#log.filter(({ level, msg }) => level >= INFO && msg.includes(words));
  }

  /** Of attempts that failed and are repeated, what was logged, whether anybody is to see it or not. */
  get attempts(): LogLine[] {
    return this.#log.filter(({ msg }) => msg.includes('tries again every hour'));
  }

  /** What it printed and logged about its model, line by line. */
  get outputLines(): string[] {
    const printed = this.served.stdout.split('\n').filter((line) => / serves now\.$|^Fetching /.test(line));
    const logged = this.#log.filter(
      ({ level, model, to, msg }) =>
        level >= INFO && msg !== 'ready' && (level > INFO || model !== undefined || to !== undefined),
    );
    return [...printed.map((line) => `printed: ${line}`), ...logged.map(lineOf)];
  }

  /** Of the command line, beside the server. */
  command(...words: string[]): ReturnType<typeof runCommand> {
    return runCommand(words, this.settings);
  }

  async stop(): Promise<void> {
    for (const line of this.outputLines) console.log(`      ${line}`);
    await this.served.stop();
  }

  get #log(): LogLine[] {
    const lines = this.served.stderr.split('\n').slice(0, -1);
    // Lines about requests have no words.
    return lines.map((line) => ({ msg: '', ...(JSON.parse(line) as Partial<LogLine>) }) as LogLine);
  }

  async #until(what: string, condition: (readiness: Readiness) => boolean): Promise<void> {
    const holds = async (): Promise<boolean> => {
      await pause(LOOK_MS);
      return condition(await this.readiness());
    };
    await until(holds, what, WATCHDOG_MS);
  }

  async #curl(path: string, ...words: string[]): Promise<string> {
    const inside = ['--net', '--target', String(this.served.child.pid), 'curl', '--silent', '--show-error'];
    const { stdout } = await promisify(execFile)('nsenter', [...inside, ...words, `${this.served.url}${path}`]);
    return stdout;
  }
}

function lineOf({ level, msg, err, ...fields }: LogLine): string {
  const known = { ...fields, time: undefined, err: err?.message };
  return `${level > INFO ? 'warning' : 'log'}: ${msg} ${JSON.stringify(known)}`;
}
