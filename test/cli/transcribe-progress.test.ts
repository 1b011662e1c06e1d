import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { progressLine, summaryText } from '../../src/cli/progress-line.js';
import { TranscribeProgress } from '../../src/cli/transcribe-progress.js';

/** What a stream was written, a terminal's or not. */
function recording(isTTY: boolean): { stream: NodeJS.WriteStream; written: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
  return { stream: stream as unknown as NodeJS.WriteStream, written: () => String(stream.read() ?? '') };
}

describe('TranscribeProgress', () => {
  const files = [
    { path: 'a', bytes: 100 },
    { path: 'b', bytes: 300 },
  ];

  it('reports on a terminal how much is done, how fast, and what is left', () => {
    const { stream, written } = recording(true);
    let milliseconds = 5000;
    const progress = new TranscribeProgress(files, stream, () => milliseconds);
    progress.measured('a', 60);
    progress.transcribed('a', 60);
    progress.done('a');
    progress.measured('b', 180);
    progress.transcribed('b', 60);
    milliseconds += 20_000;
    progress.transcribed('b', 120);
    progress.say('a line');
    progress.stop();
    // A quarter of the bytes, and two thirds of the rest: three quarters in 20 s.
    const text = written();
    expect(text).to.contain('1/2 files | 3.0 min of audio | 9.0 x real time | 0:07 left');
    expect(text).to.match(/a line\n/);
    progress.done('b');
    expect(written()).to.equal('');
    progress.summarize(1, 'subtitles/');
    expect(written()).to.equal(
      '2 files (1 failed), 3.0 min of audio in 20 s (9.0 times real time), written to subtitles/\n',
    );
  });

  it('knows no time left before anything is done, and none when all is', () => {
    const { stream, written } = recording(true);
    let milliseconds = 0;
    const none = new TranscribeProgress([{ path: 'a', bytes: 0 }], stream, () => milliseconds);
    none.stop();
    expect(written()).to.contain('0/1 files | 0.0 min of audio | 0.0 x real time');
    const all = new TranscribeProgress(files, stream, () => milliseconds);
    milliseconds = 4_000_000;
    for (const { path } of files) all.done(path);
    all.stop();
    expect(written()).to.contain('2/2 files').and.contain('0:00 left');
  });

  it('writes nothing but what is said where there is no terminal', () => {
    const { stream, written } = recording(false);
    const progress = new TranscribeProgress(files, stream);
    progress.measured('a', 60);
    progress.transcribed('a', 60);
    progress.say('a line');
    progress.done('a');
    progress.stop();
    progress.summarize(0, null);
    expect(written()).to.equal('a line\n');
  });
});

describe('progressLine', () => {
  const parts = {
    fraction: 0.5,
    parts: ['12/345 files', '123.4 min of audio', '13.6 x real time'],
    left: '1:02:03 left',
  };

  it('fits every width, and keeps the time left longest', () => {
    for (let width = 1; width <= 130; width++) {
      const line = progressLine(parts, width);
      expect(line.length, line).to.be.at.most(width);
      if (width >= parts.left.length) expect(line).to.match(/1:02:03 left$/);
    }
  });

  it('has all of it, and a bar, where there is room', () => {
    const text = '12/345 files | 123.4 min of audio | 13.6 x real time | 1:02:03 left';
    expect(progressLine(parts, 100)).to.equal(`[${'='.repeat(15)}${'-'.repeat(15)}] ${text}`.slice(0, 100));
    expect(progressLine(parts, 67)).to.equal(text);
    expect(progressLine(parts, 60)).to.equal('12/345 files | 123.4 min of audio | 1:02:03 left');
  });
});

describe('summaryText', () => {
  it('says how much was done, how fast, and where it is', () => {
    const totals = { files: 6, failed: 0, audioSeconds: 558, elapsedSeconds: 41 };
    expect(summaryText(totals, 'subtitles/')).to.equal(
      '6 files, 9.3 min of audio in 41 s (13.6 times real time), written to subtitles/',
    );
    expect(summaryText({ ...totals, files: 1, audioSeconds: 8, elapsedSeconds: 120 }, null)).to.equal(
      '1 file, 8 s of audio in 2.0 min (0.1 times real time)',
    );
  });
});
