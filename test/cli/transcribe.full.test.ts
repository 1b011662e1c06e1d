import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sample, unknownClips } from '../support/speech.js';
import { verbatim as command } from '../support/built.js';

interface Printed {
  text: string;
  segments: unknown[];
  warnings?: { code: string; message: string }[];
}

describe('the demonstration model on the command line', function () {
  this.timeout(120_000);
  let directory: string;

  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-cli-'))));
  after(() => rmSync(directory, { recursive: true }));

  const verbatim = (...words: string[]) => {
    const env = {
      ...process.env,
      VERBATIM_DEVICE: 'cpu',
      VERBATIM_ACCEL: 'off',
      VERBATIM_MODELS_DIR: directory,
    };
    return spawnSync(process.execPath, command(...words), { encoding: 'utf8', env });
  };

  for (const { path, language } of unknownClips()) {
    it(`says on stderr why ${language} speech that it does not know has no text, and what to install`, () => {
      const { status, stdout, stderr } = verbatim('transcribe', path);
      expect(status, stderr).to.equal(0);
      expect(stdout).to.equal('\n');
      expect(stderr).to.contain('demonstration model').and.contain('"npx verbatim models pull" installs');
    });
  }

  it('says so in JSON, on stdout alone', () => {
    const { status, stdout, stderr } = verbatim('transcribe', '--json', unknownClips()[0]!.path);
    expect(status, stderr).to.equal(0);
    expect(stderr).to.equal('');
    const printed = JSON.parse(stdout) as Printed;
    expect(printed).to.deep.include({ text: '', segments: [] });
    expect(printed.warnings?.map(({ code }) => code)).to.deep.equal(['demonstration_model']);
  });

  it('says once on stderr what it is where it knows the words, and in JSON', () => {
    const { path } = sample('en-wav16.wav');
    const text = verbatim('transcribe', path);
    expect(text.stdout).to.equal('Hello Emma, this is Laura.\n');
    expect(text.stderr).to.match(/^The text may be wrong: "verbatim-small" is a demonstration model .*\n$/);
    const { warnings } = JSON.parse(verbatim('transcribe', '--json', path).stdout) as { warnings: { code: string }[] };
    expect(warnings.map(({ code }) => code)).to.deep.equal(['demonstration_model']);
  });

  it('says nothing on stderr where it was asked for and knows the words', () => {
    const { path } = sample('en-wav16.wav');
    expect(verbatim('transcribe', '--model', 'bundled', path)).to.include({ status: 0, stderr: '' });
  });

  it('is named one by models list', () => {
    const { stdout } = verbatim('models', 'list', '--json');
    const rows = JSON.parse(stdout) as { name: string; demonstration: string }[];
    const demonstrations = rows.filter((row) => row.demonstration === 'yes').map(({ name }) => name);
    expect(demonstrations).to.deep.equal(['verbatim-small', 'translate-verbatim-small']);
    expect(rows.find(({ name }) => name === 'base-q8_0')).to.include({ demonstration: 'no' });
  });
});
