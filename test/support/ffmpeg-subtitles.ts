/** Subtitle files as ffmpeg reads them; `setup` installs it. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

/** The times of what it would show; it must have nothing to say against the file. */
export function timesByFfmpeg(path: string): number[][] {
  const run = (...output: string[]): string => {
    const { error, status, stderr, stdout } = spawnSync('ffmpeg', ['-v', 'error', '-i', path, '-map', '0', ...output], {
      encoding: 'utf8',
    });
    expect([error, status, stderr]).to.deep.equal([undefined, 0, '']);
    return stdout;
  };
  run('-c', 'copy', '-f', 'null', '-');
  const times = /^([\d:]+),(\d{3}) --> ([\d:]+),(\d{3})$/gm;
  return [...run('-f', 'srt', '-').matchAll(times)].map(([, start, startMs, end, endMs]) => [
    secondsOf(start!, startMs!),
    secondsOf(end!, endMs!),
  ]);
}

function secondsOf(clock: string, milliseconds: string): number {
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (seconds * 1000 + Number(milliseconds)) / 1000;
}
