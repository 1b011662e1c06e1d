import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verbatim as command } from '../support/built.js';
import { writeTinyModel } from '../support/translation-models.js';

const root = join(__dirname, '..', '..');

describe('translation on the command line', function () {
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-cli-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const verbatim = (words: string[], input = '', environment: Record<string, string> = {}) => {
    const env = { ...process.env, VERBATIM_DEVICE: 'cpu', VERBATIM_MODELS_DIR: directory, ...environment };
    const { status, stdout, stderr } = spawnSync(process.execPath, command(...words), {
      encoding: 'utf8',
      input,
      env,
    });
    return { status, stdout, stderr };
  };

  describe('verbatim translate', () => {
    it('translates its argument, and says over which models with --json', () => {
      const { status, stdout, stderr } = verbatim(['translate', '--from', 'eng', '--to', 'de', 'Good morning.']);
      expect(status, stderr).to.equal(0);
      expect(stdout).to.match(/^Guten Morgen/);
      const json = verbatim(['translate', '--from', 'en', '--to', 'es', '--json', 'Good morning.']).stdout;
      expect(JSON.parse(json)).to.deep.include({
        from: 'en',
        to: 'es',
        models: ['translate-verbatim-small'],
      });
    });

    it('translates standard input, line by line', () => {
      const { stdout } = verbatim(['translate', '--from', 'en', '--to', 'de', '-'], 'Good morning.\n\nThank you.\n');
      expect(stdout.split('\n')).to.have.length(4);
      expect(stdout).to.match(/^Guten Morgen.*\n\n\S.*\n$/);
    });

    it('exits with 1 for a pair that nothing covers and 2 for wrong usage, and says why', () => {
      const cases: [string[], number, RegExp][] = [
        [['--from', 'en', '--to', 'ja', 'x'], 1, /No installed model translates "en" into "ja"/],
        [['--to', 'de', 'x'], 2, /--from is missing/],
      ];
      for (const [words, expected, message] of cases) {
        const { status, stderr } = verbatim(['translate', ...words]);
        expect(status, words.join(' ')).to.equal(expected);
        expect(stderr).to.match(message);
      }
      const { status, stderr } = verbatim(['translate', '--from', 'en', '--to', 'de', 'x'], '', {
        VERBATIM_TRANSLATION_BACKEND: 'abacus',
      });
      expect({ status }).to.deep.equal({ status: 2 });
      expect(stderr).to.contain('VERBATIM_TRANSLATION_BACKEND is "abacus"; allowed: auto, ggml, ctranslate2.');
    });
  });

  it('verbatim models import takes a model that verbatim translate then uses', () => {
    const model = writeTinyModel(join(directory, 'source'), { pieces: ['▁hola', '>>pt<<'] });
    const flags = ['--name', 'mine', '--from', 'it', '--to', 'por', '--target-token', '>>{}<<'];
    const { status, stdout, stderr } = verbatim(['models', 'import', model, ...flags]);
    expect(status, stderr).to.equal(0);
    expect(stdout).to.equal('mine is imported: it -> pt\n');
    const rows = JSON.parse(verbatim(['models', 'list', '--json']).stdout) as Record<string, unknown>[];
    expect(rows.find(({ name }) => name === 'mine')).to.include({ installed: 'yes', languages: 'it -> pt' });
    const json = verbatim(['translate', '--from', 'it', '--to', 'pt', '--json', 'hola.']).stdout;
    expect(JSON.parse(json)).to.deep.include({ models: ['mine'] });
    writeFileSync(join(directory, 'notes.zip'), 'no zip');
    const refused = verbatim(['models', 'import', join(directory, 'notes.zip')]);
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.contain('it is no zip archive');
  });

  it('verbatim transcribe --translate-to prints the translation', () => {
    const file = join(root, 'test', 'fixtures', 'audio', 'samples', 'en-wav16.wav');
    const { status, stdout, stderr } = verbatim(['transcribe', file, '--translate-to', 'es', '--json']);
    expect(status, stderr).to.equal(0);
    const answer = JSON.parse(stdout) as {
      language: string;
      translation: { language: string; text: string };
    };
    expect(answer.language).to.equal('en');
    expect(answer.translation.language).to.equal('es');
    expect(answer.translation.text).to.match(/\p{L}{2}/u);
    const refused = verbatim(['transcribe', file, '--language', 'en', '--translate-to', 'ja']);
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.contain('No installed model translates "en" into "ja"');
  });
});
