/** What a conversion may take, how it ends, and that nothing is left of it: no process, no file. */
import { expect } from 'chai';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VerbatimError } from '../../../src/errors.js';
import { systemClock } from '../../../src/engine/clock.js';
import { MEASURING } from '../../../src/engine/speech/transcriber.js';
import type { FileToConvert, SpeechEngine } from '../../../src/engine/types.js';
import { samplePath } from '../../native/support.js';
import { conversionsOf } from '../../support/child-processes.js';
import { recordingOf, recordSilently } from '../../support/recordings.js';
import { until } from '../../support/until.js';
import { Scenario } from './scenario.js';

/** Programs that are run as ffmpeg is: `$out` is the file that it is to write. */
const PROGRAMS = {
  // With a child of its own.
  endless: 'echo out_time_us=1000000; sleep infinity & wait',
  // A minute of audio with every look at it.
  pouring: 'n=0; while :; do n=$((n + 60000000)); echo out_time_us=$n; sleep 0.01; done',
  // So that a test may have both.
  'endless with some': 'case "$*" in *endless*) while :; do :; done;; *) exec ffmpeg "$@";; esac',
  reporting:
    'cat /proc/self/limits > "$0.limits"; cat /proc/self/status > "$0.status"; env > "$0.env"; pwd > "$0.pwd"; ' +
    'exec ffmpeg "$@"',
  greedy: 'exec dd if=/dev/zero of=/dev/null bs=800M count=1',
  writing: 'exec head -c 100000000 /dev/zero > "$out"',
  crashing: 'echo out_time_us=1000000; kill -SEGV $$',
  'without end, and reported': 'echo "Exiting normally, received signal 24." >&2; exit 255',
  'killed once': 'echo >> "$0.runs"; [ $(wc -l < "$0.runs") -gt 1 ] || kill -KILL $$; exec ffmpeg "$@"',
  killed: 'echo >> "$0.runs"; kill -KILL $$',
  terminated: 'echo >> "$0.runs"; kill -TERM $$',
  'terminated, and reported': 'echo >> "$0.runs"; echo "Exiting normally, received signal 15." >&2; exit 255',
  'on a full disk': 'echo "av_interleaved_write_frame(): No space left on device" >&2; exit 1',
  unhappy: 'echo "something new" >&2; exit 1',
} as const;

describe('Conversion', () => {
  let directory: string;
  let webm: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-conversion-'));
    webm = recordingOf(samplePath('en-wav16.wav'), join(directory, 'a.webm'), ['-c:a', 'libopus']);
  });
  after(() => rmSync(directory, { recursive: true }));

  let engine: SpeechEngine;
  let output: string;
  beforeEach(() => (output = mkdtempSync(join(directory, 'output-'))));
  afterEach(async () => {
    expect(conversionsOf().map(({ pid }) => pid)).to.deep.equal([]);
    await engine.close();
  });

  async function start(ffmpeg: keyof typeof PROGRAMS | null, path = 'ffmpeg'): Promise<void> {
    const program = ffmpeg === null ? path : join(output, 'program');
    if (ffmpeg !== null) {
      const head = '#!/bin/sh\nfor out; do :; done; out=${out#file:}\n';
      writeFileSync(program, head + PROGRAMS[ffmpeg] + '\n', { mode: 0o755 });
    }
    ({ engine } = await Scenario.start({ clock: systemClock, ffmpeg: program }));
  }

  const convert = (path = webm, more: Partial<FileToConvert> = {}): ReturnType<SpeechEngine['convert']> =>
    engine.convert({ path, accountId: 'one', to: join(output, 'to'), maxSeconds: 3600, ...more });
  const failed = (...args: Parameters<typeof convert>): Promise<unknown> =>
    convert(...args).then(
      () => expect.fail('it succeeded'),
      (error: unknown) => error,
    );
  const runs = (): number => readFileSync(join(output, 'program.runs'), 'utf8').length;
  const made = (): string[] => readdirSync(output).filter((name) => !name.startsWith('program'));

  it('makes a private file of 16 kHz, mono, 24 bits', async () => {
    await start(null);
    writeFileSync(join(output, 'to'), 'what was there', { mode: 0o644 });
    expect(await convert()).to.equal(true);
    expect(made()).to.deep.equal(['to']);
    expect(statSync(join(output, 'to')).mode & 0o777).to.equal(0o600);
    const flac = readFileSync(join(output, 'to'));
    expect(flac.toString('latin1', 0, 4)).to.equal('fLaC');
    // Of STREAMINFO: 20 bits of rate, 3 of channels less one, 5 of bits less one.
    expect(flac.readUInt32BE(18) >>> 4).to.equal((16_000 << 8) | (0 << 5) | 23);
  });

  it('makes nothing of what the engine reads itself', async () => {
    await start(null, '/nowhere/ffmpeg');
    for (const name of ['en-wav16.wav', 'de-flac.flac', 'es-vbr.mp3', 'es-opus.ogg'])
      expect(await convert(samplePath(name)), name).to.equal(false);
    expect(made()).to.deep.equal([]);
  });

  it('is confined', async () => {
    await start('reporting');
    await convert(webm, { maxSeconds: 100 });
    const reported = (what: string): string => readFileSync(join(output, `program.${what}`), 'utf8');
    const limit = (name: string): string[] =>
      new RegExp(`^Max ${name} +(\\S+) +(\\S+)`, 'm').exec(reported('limits'))?.slice(1) ?? [];
    expect(limit('cpu time')).to.deep.equal(['20', '25']);
    await convert(webm, { maxSeconds: 100, payableSeconds: 60 });
    expect(limit('cpu time')).to.deep.equal(['16', '21']);
    await convert(webm, { maxSeconds: 100, payableSeconds: 600 });
    expect(limit('address space')).to.deep.equal(['805306368', '805306368']);
    expect(limit('file size')).to.deep.equal(['6042496', '6042496']);
    expect(limit('open files')).to.deep.equal(['64', '64']);
    expect(limit('core file size')).to.deep.equal(['0', '0']);
    expect(reported('status')).to.match(/^NoNewPrivs:\t1$/m);
    expect(reported('pwd')).to.equal('/\n');
    const names = reported('env').match(/^\w+(?==)/gm);
    const own = ['LC_ALL', 'MALLOC_ARENA_MAX', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', 'PWD', '_'];
    expect(own).to.include.members(names ?? ['none']);
  });

  it('has bounded memory, and may write so much and no more', async () => {
    await start('greedy');
    expect(await failed()).to.include({ code: 'invalid_audio' });
    await engine.close();
    await start('writing');
    const error = await failed(webm, { maxSeconds: 1 });
    expect(error).to.include({ code: 'invalid_audio' });
    expect((error as Error).message).to.contain('more processor time or memory than is allowed');
    expect(made()).to.deep.equal([]);
  });

  it('stops where no more can be paid for, though the file has no end', async () => {
    await start('pouring');
    expect(await failed(webm, { payableSeconds: 600 })).to.include({ code: 'insufficient_credits' });
    expect(await failed(webm, { maxSeconds: 1200 })).to.include({ code: 'audio_too_long', param: 'audio' });
    expect(made()).to.deep.equal([]);
  });

  it('is repeated where somebody else kills it', async () => {
    await start('killed once');
    expect(await convert()).to.equal(true);
    expect(runs()).to.equal(2);
  });

  for (const program of ['killed', 'terminated', 'terminated, and reported'] as const) {
    it(`is repeated once, and does not blame the file, where it is ${program} each time`, async () => {
      await start(program);
      const error = await failed();
      expect(error).to.be.instanceOf(VerbatimError);
      expect(error).to.include({ code: 'overloaded', retryAfterSeconds: 10 });
      expect(runs()).to.equal(2);
      expect(made()).to.deep.equal([]);
    });
  }

  it('dies with its request, while it runs and while it stands still', async () => {
    await start('endless');
    const left = new AbortController();
    const gone = new Error('gone');
    const requests = ['a', 'b', 'c', 'd', 'e', 'f'].map((accountId) =>
      failed(webm, { accountId, to: join(output, accountId), signal: left.signal }),
    );
    await until(() => conversionsOf().filter(({ state }) => state === 'T').length >= 2);
    left.abort(gone);
    for (const request of requests) expect(await request).to.equal(gone);
    expect(conversionsOf()).to.deep.equal([]);
    expect(made()).to.deep.equal([]);
  });

  it('takes turns: few at a time, and a clip gets by a crowd that never ends', async () => {
    await start('endless with some');
    const endless = join(directory, 'endless.webm');
    copyFileSync(webm, endless);
    const crowd = Array.from({ length: 20 }, () => new AbortController());
    const requests = crowd.map(({ signal }, n) =>
      failed(endless, { accountId: `${n % 4}`, to: join(output, String(n)), signal }),
    );
    await until(() => conversionsOf().length >= MEASURING.open);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, conversionsOf().length)), 5);
    expect(await convert(webm, { accountId: 'other' })).to.equal(true);
    clearInterval(watch);
    for (const one of crowd) one.abort(new Error('enough'));
    await Promise.all(requests);
    expect(most).to.be.within(1, MEASURING.open + MEASURING.inGrace);
    expect(made()).to.deep.equal(['to']);
  });

  describe('says what is wrong', () => {
    const refusal = async (path?: string): Promise<string> => {
      const error = await failed(path);
      expect(made()).to.deep.equal([]);
      expect((error as Error).message).not.to.contain(directory);
      return `${(error as { code: string }).code}: ${(error as Error).message}`;
    };

    it('where there is no ffmpeg', async () => {
      await start(null, '/nowhere/ffmpeg');
      expect(await refusal()).to.equal(
        'unsupported_audio_format: the file is WebM or Matroska, which takes ffmpeg to read, and there is no ' +
          'ffmpeg on this machine: install ffmpeg, or send WAV, FLAC, MP3 or OGG',
      );
    });

    it('with files that are not what they should be', async () => {
      await start(null);
      const silent = recordSilently(join(directory, 'silent.mp4'));
      expect(await refusal(silent)).to.equal('invalid_audio: the MP4, MOV or 3GP file has no audio track');
      const cut = recordingOf(samplePath('en-wav16.wav'), join(directory, 'cut.m4a'), ['-c:a', 'aac']);
      truncateSync(cut, Math.floor(statSync(cut).size / 2));
      expect(await refusal(cut)).to.equal(
        'invalid_audio: the MP4, MOV or 3GP file is cut off: its index (moov) is missing',
      );
      const dts = recordingOf(samplePath('en-wav16.wav'), join(directory, 'dts.mkv'), [
        '-ar',
        '48000',
        '-strict',
        '-2',
        '-c:a',
        'dca',
      ]);
      expect(await refusal(dts)).to.equal(
        'unsupported_audio_format: the sound of the WebM or Matroska file is in a codec that is not read (dca)',
      );
      const empty = join(directory, 'empty.amr');
      writeFileSync(empty, '#!AMR\n');
      expect(await refusal(empty)).to.equal('invalid_audio: the AMR file holds no audio that can be decoded');
      const stump = join(directory, 'stump.webm');
      writeFileSync(stump, readFileSync(webm).subarray(0, 40));
      expect(await refusal(stump)).to.match(/^invalid_audio: the WebM or Matroska file /);
    });

    const ENDINGS = {
      crashing: 'invalid_audio: the WebM or Matroska file is broken: its decoder failed on it',
      'without end, and reported':
        'invalid_audio: decoding the WebM or Matroska file takes more processor time or memory than is allowed',
      'on a full disk': 'ENOSPC: The disk is full.',
      unhappy: 'invalid_audio: the WebM or Matroska file is broken: it cannot be decoded',
    } as const;
    for (const [program, words] of Object.entries(ENDINGS)) {
      it(`with an ffmpeg that is ${program}`, async () => {
        await start(program as keyof typeof ENDINGS);
        expect(await refusal()).to.equal(words);
      });
    }
  });
});
