/** Real speech for tests: the clips under test/fixtures/audio/samples, and files made of them. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const AUDIO = join(__dirname, '..', 'fixtures', 'audio');
const ROOT = join(AUDIO, 'samples');
const SAMPLE_RATE = 16_000;
const BYTES_PER_SAMPLE = 2;

export interface Sample {
  file: string;
  path: string;
  language: string;
  text: string;
  seconds: number;
}

export function samples(): Sample[] {
  const list = JSON.parse(readFileSync(join(ROOT, 'references.json'), 'utf8')) as {
    file: string;
    language: string;
    text: string;
    duration: number;
  }[];
  return list.map(({ file, language, text, duration }) => ({
    file,
    path: join(ROOT, file),
    language,
    text,
    seconds: duration,
  }));
}

export function sample(file: string): Sample {
  const found = samples().find(({ path }) => path.endsWith(`/${file}`));
  if (found === undefined) throw new Error(`There is no sample ${file}.`);
  return found;
}

/** Clear speech of words that the bundled model was never taught. */
export function unknownClips(): { path: string; language: string }[] {
  const folder = join(AUDIO, 'unknown');
  const { clips } = JSON.parse(readFileSync(join(folder, 'references.json'), 'utf8')) as {
    clips: { file: string; language: string }[];
  };
  return clips.map(({ file, language }) => ({ path: join(folder, file), language }));
}

/** 16-bit samples at 16 kHz of the sample that is stored so. */
export function pcmOfSample(): Buffer {
  const file = readFileSync(sample('en-wav16.wav').path);
  const data = file.indexOf('data');
  return file.subarray(data + 8, data + 8 + file.readUInt32LE(data + 4));
}

export function pcmOfSilence(seconds: number): Buffer {
  return Buffer.alloc(Math.round(seconds * SAMPLE_RATE) * BYTES_PER_SAMPLE);
}

/** Low noise, so that a pause is not cut out as digital silence. */
export function pause(seconds: number): Buffer {
  const bytes = pcmOfSilence(seconds);
  for (let at = 0; at < bytes.length; at += BYTES_PER_SAMPLE) bytes.writeInt16LE((at * 7919) % 17, at);
  return bytes;
}

/** A mono 16 kHz WAV file of 16-bit samples, in memory. */
export function wavOf(pcm: Buffer): Buffer {
  return Buffer.concat([header(pcm.length), pcm]);
}

/** Writes a mono 16 kHz WAV file of these parts; returns its length in seconds. */
export function writeWav(path: string, parts: readonly Buffer[]): number {
  return writeRepeatedWav(path, parts, 1);
}

/** The same, with the parts so many times over, without holding them all. */
export function writeRepeatedWav(path: string, parts: readonly Buffer[], times: number): number {
  const block = Buffer.concat(parts);
  const file = openSync(path, 'w');
  try {
    writeSync(file, header(block.length * times));
    for (let written = 0; written < times; written++) writeSync(file, block);
  } finally {
    closeSync(file);
  }
  return (block.length * times) / BYTES_PER_SAMPLE / SAMPLE_RATE;
}

function header(dataBytes: number): Buffer {
  const bytes = Buffer.alloc(44);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + dataBytes, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); // PCM
  bytes.writeUInt16LE(1, 22); // channels
  bytes.writeUInt32LE(SAMPLE_RATE, 24);
  bytes.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  bytes.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  bytes.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(dataBytes, 40);
  return bytes;
}

/** An MP3 file of the constant-rate sample's frames, over and over; returns its length in seconds. */
export function writeRepeatedMp3(path: string, atLeastSeconds: number): number {
  const { path: source, seconds } = sample('fr-cbr-stereo.mp3');
  const frames = framesOfMp3(readFileSync(source));
  const times = Math.ceil(atLeastSeconds / seconds);
  const file = openSync(path, 'w');
  try {
    for (let written = 0; written < times; written++) writeSync(file, frames);
  } finally {
    closeSync(file);
  }
  return times * seconds;
}

/** Without the ID3 tag and the Info frame, whose word on the length would not hold for the whole. */
function framesOfMp3(bytes: Buffer): Buffer {
  const tagBytes = 10 + bytes.readUInt8(9) + (bytes.readUInt8(8) << 7) + (bytes.readUInt8(7) << 14);
  const second = bytes.indexOf(bytes.subarray(tagBytes, tagBytes + 2), tagBytes + 4);
  if (!bytes.subarray(tagBytes, second).includes('Info')) throw new Error('The sample has no Info frame.');
  return bytes.subarray(second);
}
