/** Completion as the three shells do it with the script that `verbatim completion` prints, and the manual page. */
import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram } from '../../src/cli/program.js';
import { verbatim } from '../support/built.js';

function printed(...words: string[]): string {
  return execFileSync(process.execPath, verbatim(...words), { encoding: 'utf8' });
}

/** What a shell offers for a command line whose last word is being typed. */
type Offers = (script: string, words: readonly string[]) => string[];

function linesOf(command: string, args: readonly string[]): string[] {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8' });
  expect({ stderr, status }, args.join(' ')).to.deep.equal({ stderr: '', status: 0 });
  return stdout.split('\n').filter((line) => line !== '');
}

const offeredBy: Readonly<Record<string, Offers>> = {
  bash: (script, words) => {
    const run = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _verbatim; printf "%s\\n" "${COMPREPLY[@]}"';
    return linesOf('bash', ['--norc', '-c', run, script, ...words]);
  },
  // What its completion system would filter by the word is printed as it is offered.
  zsh: (script, words) => {
    const stubs =
      'compdef() {}; _files() { print -r -- FILES }; compadd() { shift; print -rl -- "$@" }; ' +
      '_describe() { local -a offered=("${(@P)2}"); print -rl -- "${offered[@]%%:*}" };';
    const run = `${stubs} source "$0"; words=("$@"); CURRENT=$#; _verbatim`;
    const last = words.at(-1) ?? '';
    return linesOf('zsh', ['-f', '-c', run, script, ...words]).filter((word) => word.startsWith(last));
  },
  fish: (script, words) => {
    const run = `source ${script}; complete -C '${words.join(' ')}'`;
    return linesOf('fish', ['--no-config', '-c', run]).map((line) => line.split('\t')[0] ?? '');
  },
};

describe('Completion', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-completion-'))));
  after(() => rmSync(directory, { recursive: true }));

  for (const [shell, offers] of Object.entries(offeredBy)) {
    describe(`in ${shell}`, function () {
      this.timeout(60_000);
      let script: string;
      const offered = (...words: string[]): string[] => offers(script, ['verbatim', ...words]).sort();

      before(() => {
        script = join(directory, `verbatim.${shell}`);
        writeFileSync(script, printed('completion', shell));
      });

      it('offers every command, and those below one', () => {
        const names = createProgram()
          .commands.map((command) => command.name())
          .sort();
        const commands = offered('').filter((word) => !word.startsWith('-'));
        expect(commands).to.deep.equal(names).and.include('transcribe').and.not.include('bench');
        const keys = offered('keys', '').filter((word) => !word.startsWith('-'));
        expect(keys).to.deep.equal(['create', 'list', 'revoke']);
      });

      it('offers the options of the command that was typed', () => {
        expect(offered('transcribe', 'a.wav', '--m')).to.deep.equal(['--max-speakers', '--min-speakers', '--model']);
        expect(offered('keys', 'create', '--account', 'list', '--s')).to.deep.equal(['--scope']);
        expect(offered('keys', 'list', '--s')).to.deep.equal([]);
      });

      it('offers the values of an option, and of an argument', () => {
        expect(offered('transcribe', '--format', '')).to.deep.equal(['json', 'srt', 'text', 'vtt']);
        expect(offered('transcribe', '-f', 't')).to.deep.equal(['tsv', 'txt']);
        const roles = offered('accounts', 'role', '').filter((word) => !word.startsWith('-'));
        expect(roles).to.deep.equal(['operator', 'user']);
      });

      it('leaves the value of any other option to files', () => {
        const words = offered('transcribe', '--output', '');
        expect(words.filter((word) => word.startsWith('-') || word === 'json')).to.deep.equal([]);
      });
    });
  }

  it('is refused for another shell, by name', () => {
    const { status, stderr } = spawnSync(process.execPath, verbatim('completion', 'tcsh'), { encoding: 'utf8' });
    expect(status).to.equal(2);
    expect(stderr).to.contain('bash, zsh, fish');
  });
});

describe('The manual page', () => {
  it('is one that groff takes without a warning, with every command and every option', () => {
    const { stdout, stderr, status } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-rLL=200n', '-P-cbou'], {
      input: printed('man-page'),
      encoding: 'utf8',
    });
    expect({ stderr, status }).to.deep.equal({ stderr: '', status: 0 });
    const text = stdout.replace(/\s+/g, ' ');
    for (const command of createProgram().commands) {
      for (const child of command.commands.length > 0 ? command.commands : [command]) {
        const name = child === command ? command.name() : `${command.name()} ${child.name()}`;
        expect(text).to.contain(`verbatim ${name} `);
        for (const { flags } of child.options) expect(text, name).to.contain(flags);
      }
    }
    expect(text)
      .to.contain('one of: json, text, srt, vtt')
      .and.contain('EXIT STATUS')
      .and.not.contain('verbatim bench');
  });
});
