/**
 * A valid FLAC file of silence that is as small as can be: hours of many channels at a high rate in a few megabytes.
 */
import { writeFileSync } from 'node:fs';

export interface SilentFlac {
  seconds: number;
  sampleRate: number;
  /** 1 to 8. */
  channels: number;
}

/** Samples of one channel in a frame; the most that FLAC has. */
const BLOCK = 65_535;
const BITS = 16;

export function writeSilentFlac(path: string, { seconds, sampleRate, channels }: SilentFlac): void {
  const samples = Math.round(seconds * sampleRate);
  const frames = Math.ceil(samples / BLOCK);
  const parts = [Buffer.from('fLaC'), streamInfo(sampleRate, channels, samples)];
  for (let number = 0; number < frames; number++) {
    parts.push(silentFrame(number, Math.min(BLOCK, samples - number * BLOCK), channels));
  }
  writeFileSync(path, Buffer.concat(parts));
}

/** RFC 9639, section 8.2, as the last metadata block; without sizes of frames and checksum of the audio. */
function streamInfo(sampleRate: number, channels: number, samples: number): Buffer {
  const block = Buffer.alloc(4 + 34);
  block.writeUInt32BE(0x8000_0000 + 34, 0);
  block.writeUInt16BE(BLOCK, 4);
  block.writeUInt16BE(BLOCK, 6);
  const format =
    (BigInt(sampleRate) << 44n) | (BigInt(channels - 1) << 41n) | (BigInt(BITS - 1) << 36n) | BigInt(samples);
  block.writeBigUInt64BE(format, 14);
  return block;
}

/** Section 9: every channel a constant subframe of 0. */
function silentFrame(number: number, samples: number, channels: number): Buffer {
  const header = Buffer.concat([
    // Fixed block size, written in 16 bits; the rate is the stream's; channels apart; 16 bits a sample.
    Buffer.from([0xff, 0xf8, 0x70, ((channels - 1) << 4) | 0x08]),
    codedNumber(number),
    Buffer.from([(samples - 1) >> 8, (samples - 1) & 0xff]),
  ]);
  const checked = Buffer.concat([header, Buffer.from([crc8(header)]), Buffer.alloc(3 * channels)]);
  const end = Buffer.alloc(2);
  end.writeUInt16BE(crc16(checked));
  return Buffer.concat([checked, end]);
}

/** UTF-8's way with numbers, those included that are no characters; up to 21 bits. */
function codedNumber(number: number): Buffer {
  if (number < 0x80) return Buffer.from([number]);
  const length = number < 0x800 ? 2 : number < 0x1_0000 ? 3 : 4;
  const first = ((0xf0 << (4 - length)) & 0xff) | (number >> (6 * (length - 1)));
  const rest = Array.from({ length: length - 1 }, (_, at) => {
    return 0x80 | ((number >> (6 * (length - 2 - at))) & 0x3f);
  });
  return Buffer.from([first, ...rest]);
}

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return crc;
}

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x8005 : 0)) & 0xffff;
  }
  return crc;
}
