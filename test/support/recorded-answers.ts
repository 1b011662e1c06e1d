/** What a server in a process of its own has answered: preload/sent-answers.ts writes it into a file as it is sent. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startVerbatim, type VerbatimOptions, type VerbatimProcess } from '../../bench/processes/verbatim-process.js';
import { packageRoot } from '../../src/package-root.js';
import { built } from './built.js';
import { check } from './contract.js';
import { ANSWERS_VARIABLE, type SentAnswer, type UnseenAnswer } from './preload/sent-answers.js';

/** The module that each of the server's processes has to require first. */
export const answersPreload = (): string => built('test', 'support', 'preload', 'sent-answers.js');

export class RecordedAnswers {
  constructor(private readonly path: string) {}

  static inOwnDirectory(): RecordedAnswers {
    return new RecordedAnswers(join(mkdtempSync(join(tmpdir(), 'verbatim-answers-')), 'answers'));
  }

  /** For the server. */
  get environment(): Record<string, string> {
    return { [ANSWERS_VARIABLE]: this.path };
  }

  /** So far. */
  read(): (SentAnswer | UnseenAnswer)[] {
    return jsonLines(this.path);
  }

  /** Holds all of them against the OpenAPI document; returns how many there were. */
  check(): number {
    const answers = this.read();
    answers.forEach(check);
    return answers.length;
  }

  /** The same, once the server has ended; throws where there were fewer than `least`. Removes the directory. */
  finish(least: number): void {
    const count = this.check();
    rmSync(dirname(this.path), { recursive: true });
    if (count < least) throw new Error(`Of what the server has answered ${count} were recorded, not ${least} or more.`);
  }
}

export function jsonLines<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as T);
}

/**
 * As the bench's, and its answers are held against the OpenAPI document when it stops. Not for a server whose time or
 * memory is measured: each answer is written into a file on its event loop.
 */
export async function startChecked(options: VerbatimOptions): Promise<VerbatimProcess> {
  // Another build, which has a document of its own.
  if (options.main !== undefined && !options.main.startsWith(packageRoot)) return startVerbatim(options);
  const answers = RecordedAnswers.inOwnDirectory();
  const env = { ...options.env, ...answers.environment };
  const server = await startVerbatim({ ...options, env, preload: [answersPreload()] });
  const stop = async (): Promise<void> => {
    await server.stop();
    answers.finish(1);
  };
  return { ...server, stop };
}
