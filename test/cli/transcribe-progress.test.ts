import { PassThrough } from 'node:stream';
import { expect } from 'chai';
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

  it('tells on a terminal how much is done, how fast, and what is left', () => {
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
    expect(written()).to.equal('a line\n');
  });
});
