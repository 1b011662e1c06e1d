import { expect } from 'chai';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failureOf, FileError } from '../../src/cli/words.js';
import { EngineError } from '../../src/engine/native-errors.js';
import { register } from '../../src/models/import.js';
import { runCommand } from '../support/cli.js';
import { samplePath } from '../native/support.js';

describe('What a failed command says', function () {
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-words-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const file = (name: string): string => join(directory, name);
  const transcribe = (path: string, env: Record<string, string> = {}) =>
    runCommand(['transcribe', path], {
      VERBATIM_DEVICE: 'cpu',
      VERBATIM_SLOTS: '1',
      VERBATIM_MODELS_DIR: directory,
      ...env,
    });

  it('of a file that is not there, with its path', async () => {
    const { status, stdout, stderr } = await transcribe(file('nofile.wav'));
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.equal(`verbatim: There is no file "${file('nofile.wav')}".\n`);
  });

  it('of a directory', async () => {
    const { status, stderr } = await transcribe(directory);
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: `verbatim: "${directory}" is a directory, not a file.\n`,
    });
  });

  it('of a file that is no audio, and of one that is damaged', async () => {
    writeFileSync(file('notes.wav'), 'Dear diary');
    const notes = await transcribe(file('notes.wav'));
    expect(notes.status).to.equal(1);
    expect(notes.stderr).to.contain(`"${file('notes.wav')}" is not audio that can be read: the file is not WAV`);
    copyFileSync(samplePath('de-flac.flac'), file('cut.flac'));
    truncateSync(file('cut.flac'), 300);
    const cut = await transcribe(file('cut.flac'));
    expect(cut.status).to.equal(1);
    expect(cut.stderr).to.match(/cut\.flac" is damaged or holds no audio: the FLAC file holds no audio frames\./);
  });

  it('of a file that may not be read', () => {
    const denied = Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES' });
    expect(failureOf(new FileError('secret.wav', denied))).to.deep.equal({
      message: '"secret.wav" cannot be read: permission denied.',
      exitCode: 1,
    });
  });

  it('of a broken model: which file, and what is wrong', async () => {
    writeFileSync(file('ggml-mine.bin'), 'no model');
    register(directory, {
      ...{ name: 'mine', kind: 'speech', file: 'ggml-mine.bin', languages: 'whisper', windows: 'full' },
      ...{ licence: 'unknown', source: 'test' },
    });
    const { status, stderr } = await transcribe(samplePath('en-wav16.wav'), { VERBATIM_MODEL: 'mine' });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^verbatim: The model is broken: ggml-mine\.bin: not a ggml Whisper model/);
  });

  it('of a broken translation model', async () => {
    mkdirSync(file('ct2'));
    writeFileSync(file('ct2/model.bin'), 'no model');
    register(directory, {
      ...{ name: 'mine', kind: 'translation', directory: 'ct2', files: [{ file: 'ct2/model.bin' }] },
      ...{ from: ['xh'], to: ['zu'], licence: 'unknown', source: 'test' },
    });
    const { status, stderr } = await runCommand(['translate', '--from', 'xh', '--to', 'zu', 'a'], {
      VERBATIM_DEVICE: 'cpu',
      VERBATIM_MODELS_DIR: directory,
    });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^verbatim: The model is broken: mine: /);
  });

  it('of a device that is not there', async () => {
    const { status, stderr } = await transcribe(samplePath('en-wav16.wav'), { VERBATIM_DEVICE: 'cuda:7' });
    expect(status).to.equal(1);
    expect(stderr).to.contain('Device "cuda:7" is not available');
  });

  it('of too little memory, and how to need less', () => {
    const error = new EngineError('out_of_memory', 'a state of 500 MiB cannot be had');
    expect(failureOf(new FileError('long.wav', error)).message).to.equal(
      'There is not enough memory: a state of 500 MiB cannot be had. A smaller model or fewer slots ' +
        '(VERBATIM_SLOTS) need less.',
    );
  });

  it('of a model to import that is not there', async () => {
    const { status, stderr } = await runCommand(['models', 'import', file('none.bin')]);
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: `verbatim: There is no file "${file('none.bin')}".\n`,
    });
  });

  it('of a language that the model does not speak, and of speakers', async () => {
    const env = { VERBATIM_DEVICE: 'cpu', VERBATIM_SLOTS: '1' };
    const path = samplePath('en-wav16.wav');
    const language = await runCommand(['transcribe', path, '--language', 'ja'], env);
    expect(language.status).to.equal(2);
    expect(language.stderr).to.match(/^verbatim: --language: The model verbatim-small does not speak "ja"/);
    const off = { ...env, VERBATIM_SPEAKERS: 'off' };
    const diarize = await runCommand(['transcribe', path, '--diarize'], off);
    expect(diarize.status).to.equal(1);
    expect(diarize.stderr).to.equal('verbatim: --diarize: VERBATIM_SPEAKERS is off.\n');
  });

  it('of audio that is longer than VERBATIM_MAX_AUDIO_SECONDS', async () => {
    const { status, stderr } = await transcribe(samplePath('en-wav16.wav'), {
      VERBATIM_MAX_AUDIO_SECONDS: '1',
    });
    expect(status).to.equal(1);
    expect(stderr).to.contain('longer than the limit of 1 s');
  });

  it('of a misspelt variable', async () => {
    const { status, stderr } = await transcribe(samplePath('en-wav16.wav'), { VERBATIM_SLOT: '2' });
    expect({ status, stderr }).to.deep.equal({
      status: 2,
      stderr: 'verbatim: VERBATIM_SLOT is not a setting of this service; the nearest name is VERBATIM_SLOTS.\n',
    });
  });
});
