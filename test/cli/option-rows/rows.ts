/** What the tables of options share. */
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, type CommandResult } from '../../support/cli.js';

/** By "command --option": runs the command with it and without, and looks at how the outcomes differ. */
export type OptionRows = Readonly<Record<string, () => Promise<void>>>;

export const ON_THE_CPU = {
  VERBATIM_DEVICE: 'cpu',
  VERBATIM_SLOTS: '1',
  // The same text on every processor.
  VERBATIM_ACCEL: 'off',
};

export class Workplace {
  readonly directory = mkdtempSync(join(tmpdir(), 'verbatim-options-'));

  run(words: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> {
    return runCommand(words, {
      ...ON_THE_CPU,
      VERBATIM_DATA_DIR: join(this.directory, 'data'),
      VERBATIM_MODELS_DIR: join(this.directory, 'models'),
      ...environment,
    });
  }

  async printed(words: readonly string[], environment?: Record<string, string>): Promise<string> {
    const { status, stdout, stderr } = await this.run(words, environment);
    expect(status, `${words.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  }

  async json<T>(words: readonly string[], environment?: Record<string, string>): Promise<T> {
    return JSON.parse(await this.printed(words, environment)) as T;
  }

  /** What it says when it refuses, beside exit code 2. */
  async refusal(words: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(words);
    expect({ status, stdout }, words.join(' ')).to.deep.equal({ status: 2, stdout: '' });
    return stderr;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}

export async function inWorkplace(work: (place: Workplace) => Promise<void>): Promise<void> {
  const place = new Workplace();
  try {
    await work(place);
  } finally {
    place.remove();
  }
}
