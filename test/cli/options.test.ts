/** The table of options: each acts, or is refused by name, and its row shows what it does. */
import { expect } from 'chai';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.js';
import { runCommand } from '../support/cli.js';
import { accountOptionRows } from './option-rows/account-options.js';
import { accountRows } from './option-rows/accounts.js';
import { creditRows, keyRows } from './option-rows/credits-and-keys.js';
import { databaseRows } from './option-rows/database.js';
import { doctorRows } from './option-rows/doctor.js';
import { liveCommandRows } from './option-rows/live.js';
import { modelRows } from './option-rows/models.js';
import type { OptionRows } from './option-rows/rows.js';
import { serveRows } from './option-rows/serve.js';
import { transcribeRows } from './option-rows/transcribe.js';
import { translateRows } from './option-rows/translate.js';
import { webhookRows } from './option-rows/webhooks.js';

const rows: OptionRows = {
  ' --version': async () => {
    const { status, stdout } = await runCommand(['--version']);
    expect(status).to.equal(0);
    expect(stdout).to.match(/^\d+\.\d+\.\d+\n$/);
  },
  ...serveRows,
  ...transcribeRows,
  ...liveCommandRows,
  ...translateRows,
  ...accountRows,
  ...accountOptionRows,
  ...creditRows,
  ...keyRows,
  ...webhookRows,
  ...databaseRows,
  ...modelRows,
  ...doctorRows,
};

interface NamedCommand {
  /** As it is typed. */
  path: string[];
  command: Command;
}

function commandsOf(command: Command, path: string[] = []): NamedCommand[] {
  return [{ path, command }, ...command.commands.flatMap((child) => commandsOf(child, [...path, child.name()]))];
}

describe('Every option of every command', () => {
  const commands = commandsOf(createProgram());
  const options = commands.flatMap(({ path, command }) =>
    command.options.map(({ long, flags }) => `${path.join(' ')} ${long ?? flags}`),
  );

  it('has a row in this table, and the table no other', () => {
    expect(Object.keys(rows).sort()).to.deep.equal([...options].sort());
  });

  it('is listed by --help of its command', async () => {
    for (const { path, command } of commands) {
      const { status, stdout } = await runCommand([...path, '--help']);
      expect(status, path.join(' ')).to.equal(0);
      for (const { flags } of command.options) expect(stdout).to.contain(flags);
    }
  });

  it('but a known one is refused by name', async () => {
    for (const { path, command } of commands) {
      const needed = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long ?? '', '1']);
      const { status, stderr } = await runCommand([...path, ...needed, '--frobnicate']);
      expect(status, path.join(' ')).to.equal(2);
      expect(stderr).to.contain('--frobnicate');
    }
  });

  for (const [option, showEffect] of Object.entries(rows)) it(option, showEffect);
});
