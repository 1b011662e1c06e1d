/** Puts lies into the headers of an audio file: sizes, rates, channel counts, positions, with checksums made right. */
import type { Mulberry32 } from './random.js';

const ABSURD = [0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

export function lie(bytes: Buffer, random: Mulberry32): Buffer {
  const out = Buffer.from(bytes);
  const magic = out.toString('latin1', 0, 4);
  if (magic === 'RIFF' || magic === 'RF64' || magic === 'RIFX') lieInWav(out, random);
  else if (magic === 'fLaC') lieInFlac(out, random);
  else if (magic === 'OggS') lieInOgg(out, random);
  else if (magic.startsWith('ID3') || out[0] === 0xff) lieInMp3(out, random);
  else lieInFields(out, random);
  return out;
}

function put(out: Buffer, at: number, value: number, length: number): void {
  for (let i = 0; i < length && at + i < out.length; i++) out[at + i] = Math.floor(value / 2 ** (8 * i)) & 0xff;
}

function absurd(random: Mulberry32): number {
  return random.next() < 0.7 ? random.pick(ABSURD) : random.below(2 ** 32);
}

function lieInWav(out: Buffer, random: Mulberry32): void {
  const data = out.indexOf('data', 12, 'latin1');
  const fields: [number, number][] = [
    [4, 4], // size of everything
    [16, 4], // size of 'fmt '
    [20, 2], // codec
    [22, 2], // channels
    [24, 4], // rate
    [28, 4], // bytes a second
    [32, 2], // block size
    [34, 2], // bits
    [data + 4, 4],
  ];
  const [at, length] = random.pick(fields);
  put(out, at, absurd(random), length);
  if (random.next() < 0.1) out.write('RF64', 0, 'latin1');
  // Codecs in blocks read the block size.
  if (random.next() < 0.2) put(out, 20, random.pick([2, 3, 6, 7, 0x11, 0x31, 0x55, 0xfffe]), 2);
}

function lieInFlac(out: Buffer, random: Mulberry32): void {
  const streamInfo = 8;
  const fields: [number, number][] = [
    [4, 4], // block type and size
    [streamInfo, 4], // block sizes
    [streamInfo + 4, 6], // frame sizes
    [streamInfo + 10, 4], // rate, channels, bits
    [streamInfo + 14, 4], // number of samples
    [streamInfo + 34, 4], // next block's type and size
  ];
  const [at, length] = random.pick(fields);
  put(out, at, absurd(random), length);
}

function lieInMp3(out: Buffer, random: Mulberry32): void {
  const tag = ['Xing', 'Info', 'VBRI'].map((name) => out.indexOf(name, 0, 'latin1')).find((at) => at >= 0);
  const choice = random.below(3);
  if (choice === 0 && tag !== undefined) {
    put(out, tag + 4 + 4 * random.below(8), absurd(random), 4);
  } else if (choice === 1 && out.toString('latin1', 0, 3) === 'ID3') {
    for (let at = 5; at < 10; at++) out[at] = random.below(256);
  } else {
    const frame = out.indexOf(0xff, random.below(Math.max(1, out.length)));
    if (frame >= 0) put(out, frame + 1 + random.below(3), random.below(256), 1);
  }
}

/** Of containers of boxes, chunks and elements: a size or a count, of which their beginnings and ends are full. */
function lieInFields(out: Buffer, random: Mulberry32): void {
  const reach = Math.min(out.length, 2048);
  const from = random.next() < 0.5 ? 0 : out.length - reach;
  put(out, from + random.below(Math.max(1, reach)), absurd(random), random.pick([1, 2, 4, 8]));
}

function lieInOgg(out: Buffer, random: Mulberry32): void {
  const pages: number[] = [];
  for (let at = out.indexOf('OggS'); at >= 0; at = out.indexOf('OggS', at + 4)) pages.push(at);
  const page = random.pick(pages);
  const size = pageSize(out, page);
  if (size === 0) return;
  const fields: [number, number][] = [
    [5, 1], // flags
    [6, 4], // position, low
    [10, 4], // position, high
    [6, 8],
    [14, 4], // stream
    [18, 4], // number
    [27, 1], // first segment
    [27 + (out[page + 26] ?? 0) + random.below(40), 4], // in the packet: Vorbis, Opus and FLAC headers
  ];
  const [at, length] = random.pick(fields);
  put(out, page + at, absurd(random), length);
  if (random.next() < 0.9) writeChecksum(out, page, size);
}

/** 0 for a page that is not whole. */
function pageSize(out: Buffer, page: number): number {
  const segments = out[page + 26] ?? 0;
  let size = 27 + segments;
  for (let i = 0; i < segments; i++) size += out[page + 27 + i] ?? 0;
  return page + size <= out.length ? size : 0;
}

function writeChecksum(out: Buffer, page: number, size: number): void {
  put(out, page + 22, 0, 4);
  let crc = 0;
  for (let at = page; at < page + size; at++) {
    crc = (crc ^ ((out[at] ?? 0) << 24)) >>> 0;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc >= 0x80000000 ? 0x04c11db7 : 0)) >>> 0;
  }
  put(out, page + 22, crc, 4);
}
