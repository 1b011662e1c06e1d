/**
 * Files of speech on the command line, as a person types it: a process of its own, the real addon, the bundled model.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pause, pcmOfSample, sample, samples, writeRepeatedWav } from '../support/speech.js';
import { until } from '../support/until.js';
import { verbatim as command } from '../support/built.js';

interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

describe('verbatim transcribe', function () {
  this.timeout(180_000);
  let directory: string;

  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-transcribe-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const at = (...names: string[]): string => join(directory, ...names);
  const start = (...words: string[]) =>
    spawn(process.execPath, command('transcribe', ...words), {
      cwd: directory,
      env: {
        ...process.env,
        ...{ VERBATIM_DEVICE: 'cpu', VERBATIM_ACCEL: 'off', VERBATIM_MODELS_DIR: directory, VERBATIM_MODEL: 'bundled' },
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  const ended = async (child: ReturnType<typeof start>): Promise<Ended> => {
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return { status, signal, ...output };
  };
  const run = (...words: string[]): Promise<Ended> => ended(start(...words));
  const done = async (...words: string[]): Promise<string> => {
    const { status, stdout, stderr } = await run(...words);
    expect(status, stderr).to.equal(0);
    expect(stderr).to.equal('');
    return stdout;
  };
  /** What it says when it refuses, before any model is loaded. */
  const refusal = async (...words: string[]): Promise<string> => {
    const { status, stdout, stderr } = await run(...words);
    expect({ status, stdout }, stderr).to.deep.equal({ status: 2, stdout: '' });
    return stderr;
  };
  const speech = sample('en-wav16.wav');

  it('writes a file for each of many, side by side, the same text as alone', async () => {
    mkdirSync(at('in'));
    const inputs = [...samples(), ...samples(), ...samples()].map(({ path }, index) => {
      const input = at('in', `${index}.audio`);
      copyFileSync(path, input);
      return input;
    });
    expect(await done(...inputs, '--output-dir', at('out', 'texts'))).to.equal('');
    const names = inputs.map((_, index) => `${index}.txt`);
    expect(readdirSync(at('out', 'texts')).sort()).to.deep.equal([...names].sort());
    for (const index of [0, inputs.length - 1]) {
      expect(readFileSync(at('out', 'texts', `${index}.txt`), 'utf8')).to.equal(await done(inputs[index]!));
    }
  });

  it('reads standard input where a file is "-"', async () => {
    const bytes = readFileSync(speech.path);
    const piped = async (input: Buffer, ...words: string[]): Promise<Ended> => {
      const child = start(...words);
      child.stdin.end(input);
      return ended(child);
    };
    expect(await piped(bytes, '-')).to.deep.include({ status: 0, stdout: `${speech.text}\n`, stderr: '' });
    expect(await piped(bytes, '-', '--output-dir', 'out')).to.include({ status: 0, stdout: '' });
    expect(readFileSync(at('out', 'stdin.txt'), 'utf8')).to.equal(`${speech.text}\n`);
    const refused = await piped(Buffer.from('This is a text.'), '-');
    expect(refused).to.include({ status: 1, stdout: '' });
    expect(refused.stderr).to.match(/^verbatim: "standard input" is not audio that can be read/);
  });

  it('goes on past files that are none, reports each, and fails at the end', async () => {
    writeFileSync(at('text.wav'), 'This is a text.');
    mkdirSync(at('directory.wav'));
    copyFileSync(speech.path, at('good.wav'));
    const files = ['text.wav', 'missing.wav', 'good.wav', 'directory.wav'];
    const { status, stdout, stderr } = await run(...files, '--output-dir', 'out', '--format', 'json');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    const reported = stderr.trimEnd().split('\n');
    expect(reported.filter((line) => !line.startsWith('verbatim: '))).to.deep.equal([]);
    expect(reported).to.have.length(3);
    for (const name of files.filter((file) => file !== 'good.wav')) {
      expect(reported.filter((line) => line.includes(`"${name}"`))).to.have.length(1);
    }
    expect(readdirSync(at('out'))).to.deep.equal(['good.json']);
    const { text } = JSON.parse(readFileSync(at('out', 'good.json'), 'utf8')) as { text: string };
    expect(text).to.equal(speech.text);
  });

  it('loads no model for files of which none can be read', async () => {
    const { status, stderr } = await run('missing.wav', 'other.wav', '--output-dir', 'out');
    expect(status).to.equal(1);
    expect(stderr).to.equal('verbatim: There is no file "missing.wav".\nverbatim: There is no file "other.wav".\n');
  });

  it('runs a command line of whisper as it is', async () => {
    copyFileSync(speech.path, at('talk.wav'));
    const line =
      'talk.wav --model verbatim-small --language English --task transcribe --output_format srt --output_dir out';
    expect(await done(...line.split(' '))).to.equal('');
    expect(readdirSync(at('out'))).to.deep.equal(['talk.srt']);
    expect(await done('talk.wav', '-ftsv', '--word_timestamps=True')).to.equal('');
    const subtitles = readFileSync(at('out', 'talk.srt'), 'utf8');
    const rows = readFileSync(at('talk.tsv'), 'utf8');
    expect(rows.split('\t').at(-1)).to.equal(subtitles.split('\n').slice(2).join(' ').trimEnd() + '\n');
    expect(await refusal('talk.wav', '--initial_prompt', 'Emma')).to.equal(
      'verbatim: --initial_prompt (names and words to expect) is an option of whisper that verbatim transcribe does ' +
        'not have. Use --prompt.\n',
    );
    expect(await refusal('talk.wav', '--beam_size', '5')).to.contain('--beam_size (the beam size');
  });

  it('puts the whole text in the place of the file that was there, or leaves it', async () => {
    writeFileSync(at('kept.txt'), 'what was there');
    symlinkSync(at('kept.txt'), at('link.txt'));
    writeFileSync(at('text.wav'), 'This is a text.');
    const failed = await run('text.wav', '--output', 'link.txt');
    expect(failed).to.include({ status: 1, stdout: '' });
    expect(readFileSync(at('kept.txt'), 'utf8')).to.equal('what was there');
    await done(speech.path, '--output', 'link.txt');
    expect(readFileSync(at('kept.txt'), 'utf8')).to.equal(`${speech.text}\n`);
    expect(readdirSync(directory).sort()).to.deep.equal(['kept.txt', 'link.txt', 'text.wav']);
  });

  it('refuses places that cannot be written to, by name', async () => {
    mkdirSync(at('directory'));
    writeFileSync(at('file'), '');
    copyFileSync(speech.path, at('speech.txt'));
    const { path } = speech;
    expect(await refusal(path, '--output', 'directory')).to.contain('"directory" is a directory');
    expect(await refusal(path, '--output', '/dev/null')).to.contain('"/dev/null" is not a file');
    expect(await refusal(path, '--output-dir', 'file')).to.contain('"file" is not a directory');
    expect(await refusal('speech.txt', '--output', './speech.txt')).to.contain('is the input file itself');
    expect(await refusal('speech.txt', '--output-dir', '.')).to.contain('is the input file itself');
    const places: [string, string][] = [
      ['missing/a.txt', 'there is no directory "missing"'],
      ['file/a.txt', '"file" is not a directory'],
    ];
    for (const [place, reason] of places) {
      const { status, stderr } = await run(path, '--output', place);
      expect(status).to.equal(1);
      expect(stderr).to.equal(`verbatim: "${place}" cannot be written: ${reason}.\n`);
    }
    const { status, stderr } = await run(path, '--output-dir', 'file/out');
    expect(status).to.equal(1);
    expect(stderr).to.contain('"file/out" cannot be written');
  });

  it('refuses several files for one place, by name', async () => {
    mkdirSync(at('other'));
    for (const copy of ['a.wav', 'a.mp3', 'other/a.wav']) copyFileSync(speech.path, at(copy));
    expect(await refusal('a.wav', speech.path)).to.contain('--output-dir');
    expect(await refusal('a.wav', speech.path, '--output', 'a.txt')).to.contain('--output-dir');
    expect(await refusal('a.wav', '--output', 'a.txt', '--output-dir', 'out')).to.contain(
      '--output cannot be used with --output-dir',
    );
    for (const other of ['a.mp3', 'other/a.wav', 'a.wav']) {
      const reported = await refusal('a.wav', other, '--output-dir', 'out');
      expect(reported).to.contain('"a.wav"').and.contain(`"${other}"`).and.contain('"out/a.txt"');
    }
    const several = await refusal('a.wav', 'other/a.wav', '--output-format', 'all', '--output-dir', 'out');
    expect(several).to.contain('"a.wav"').and.contain('"other/a.wav"').and.contain('"out/a.txt"');
    expect(existsSync(at('out'))).to.equal(false);
  });

  it('stops at Ctrl-C with what is done, and leaves no part of a file', async () => {
    copyFileSync(speech.path, at('short.wav'));
    writeRepeatedWav(at('long.wav'), [pcmOfSample(), pause(0.1)], 1000);
    const child = start('long.wav', 'short.wav', '--output-dir', 'out');
    const over = ended(child);
    await until(() => existsSync(at('out', 'short.txt')));
    child.kill('SIGINT');
    expect(await over).to.deep.equal({ status: null, signal: 'SIGINT', stdout: '', stderr: '' });
    expect(readdirSync(at('out'))).to.deep.equal(['short.txt']);
    expect(readFileSync(at('out', 'short.txt'), 'utf8')).to.equal(`${speech.text}\n`);
  });
});
