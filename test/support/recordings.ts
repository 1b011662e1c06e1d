/** Files as browsers, phones and cameras make them, written by ffmpeg, which `setup` installs. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AudioSeed } from './mutate-audio.js';

export interface Recording {
  /** Its extension says what it is; the service does not look at it. */
  name: string;
  /** What makes it of the sound that is ffmpeg's first input. */
  args: readonly string[];
}

const TEST_CARD = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=10:duration=6'];
const PICTURES = [...TEST_CARD, '-shortest'];
/** A second track. */
const TONE_BEHIND = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2', '-map', '0:a', '-map', '1:a'];

export const RECORDINGS: readonly Recording[] = [
  // As MediaRecorder sends it: nobody knows yet how long it will be.
  { name: 'chrome-live.webm', args: ['-c:a', 'libopus', '-f', 'webm', '-live', '1'] },
  { name: 'vorbis.webm', args: ['-c:a', 'libvorbis'] },
  { name: 'video.webm', args: [...PICTURES, '-c:v', 'libvpx', '-c:a', 'libopus'] },
  { name: 'safari.mp4', args: ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov'] },
  { name: 'moov-last.mp4', args: [...PICTURES, '-c:v', 'libx264', '-c:a', 'aac'] },
  { name: 'moov-first.m4a', args: ['-c:a', 'aac', '-movflags', 'faststart'] },
  { name: 'iphone.m4a', args: ['-c:a', 'alac'] },
  { name: 'camera.mov', args: [...PICTURES, '-c:v', 'mjpeg', '-c:a', 'pcm_s16be'] },
  { name: 'plain.aac', args: ['-c:a', 'aac', '-f', 'adts'] },
  {
    name: 'tagged.aac',
    args: ['-c:a', 'aac', '-f', 'adts', '-write_id3v2', '1', '-metadata', 'title=A talk'],
  },
  { name: 'lossless.caf', args: ['-c:a', 'alac'] },
  { name: 'studio.aiff', args: ['-c:a', 'pcm_s24be'] },
  { name: 'windows.wma', args: ['-c:a', 'wmav2'] },
  { name: 'phone.3gp', args: ['-ar', '16000', '-c:a', 'aac'] },
  { name: 'two-tracks.mkv', args: [...TONE_BEHIND, '-c:a', 'libopus'] },
  { name: '8-channels.m4a', args: ['-ac', '8', '-c:a', 'aac'] },
  { name: '96-khz.mkv', args: ['-ar', '96000', '-c:a', 'flac'] },
];

export function recordingOf(sound: string, path: string, args: readonly string[]): string {
  runFfmpeg(['-i', sound, ...args, path]);
  return path;
}

/** A video whose sound begins so many seconds after its pictures. */
export function recordLate(sound: string, path: string, seconds: number): string {
  runFfmpeg([...TEST_CARD, '-itsoffset', String(seconds), '-i', sound, '-c:v', 'libx264', '-c:a', 'aac', path]);
  return path;
}

export function recordSilently(path: string): string {
  runFfmpeg([...TEST_CARD, '-c:v', 'libx264', path]);
  return path;
}

/** One of each kind, to be spoiled. */
export function recordingSeeds(sound: string, directory: string): AudioSeed[] {
  return RECORDINGS.map(({ name, args }) => {
    const path = recordingOf(sound, join(directory, name), args);
    return { name, bytes: readFileSync(path) };
  });
}

/** What it says. */
export function runFfmpeg(args: readonly string[]): string {
  const { error, status, stderr } = spawnSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], {
    encoding: 'utf8',
  });
  expect([error, status], stderr).to.deep.equal([undefined, 0]);
  return stderr;
}
