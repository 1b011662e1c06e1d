/** Makes WAV files of any kind from signals, and long ones from clips, straight to disk: no file is held in memory. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { Mulberry32 } from './random.js';

export type SampleKind = 'pcm_u8' | 'pcm_s16' | 'pcm_s24' | 'pcm_s32' | 'float' | 'double' | 'alaw' | 'ulaw';

export interface WavFormat {
  kind: SampleKind;
  sampleRate: number;
  channels: number;
  /** WAVE_FORMAT_EXTENSIBLE instead of the plain header. */
  extensible?: boolean;
}

/** Amplitude in [-1, 1] at a time in seconds. */
export type Signal = (seconds: number) => number;

interface Encoding {
  tag: number;
  bytes: number;
  write: (to: Buffer, at: number, sample: number) => void;
}

const MONO_16K: WavFormat = { kind: 'pcm_s16', sampleRate: 16_000, channels: 1 };
const BLOCK_FRAMES = 8192;
const HEADER_BYTES = 44;
const EXTENSIBLE_HEADER_BYTES = 68;
/** KSDATAFORMAT_SUBTYPE_*, behind its two bytes of format tag. */
const SUBTYPE = Buffer.from('000000001000800000aa00389b71', 'hex');

const integer = (sample: number, bits: number): number => {
  const full = 2 ** (bits - 1);
  return Math.max(-full, Math.min(full - 1, Math.round(sample * full)));
};

const ENCODINGS: Record<SampleKind, Encoding> = {
  pcm_u8: { tag: 1, bytes: 1, write: (to, at, sample) => to.writeUInt8(integer(sample, 8) + 128, at) },
  pcm_s16: { tag: 1, bytes: 2, write: (to, at, sample) => to.writeInt16LE(integer(sample, 16), at) },
  pcm_s24: { tag: 1, bytes: 3, write: (to, at, sample) => to.writeIntLE(integer(sample, 24), at, 3) },
  pcm_s32: { tag: 1, bytes: 4, write: (to, at, sample) => to.writeInt32LE(integer(sample, 32), at) },
  float: { tag: 3, bytes: 4, write: (to, at, sample) => to.writeFloatLE(sample, at) },
  double: { tag: 3, bytes: 8, write: (to, at, sample) => to.writeDoubleLE(sample, at) },
  alaw: { tag: 6, bytes: 1, write: (to, at, sample) => to.writeUInt8(aLaw(integer(sample, 16)), at) },
  ulaw: { tag: 7, bytes: 1, write: (to, at, sample) => to.writeUInt8(muLaw(integer(sample, 16)), at) },
};

/** ITU-T G.711, A-law. */
function aLaw(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const magnitude = Math.min(sample >= 0 ? sample : -sample - 1, 32_767) >> 4;
  const exponent = magnitude < 32 ? 0 : Math.floor(Math.log2(magnitude)) - 4;
  const mantissa = exponent === 0 ? magnitude >> 1 : (magnitude >> exponent) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

/** ITU-T G.711, mu-law. */
function muLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample) >> 2, 8158) + 33;
  const exponent = Math.floor(Math.log2(magnitude)) - 5;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 1)) & 0x0f)) & 0xff;
}

export const silence: Signal = () => 0;

export function tone(hertz: number, amplitude = 0.5): Signal {
  return (seconds) => amplitude * Math.sin(2 * Math.PI * hertz * seconds);
}

/** From one frequency to another, linearly over `duration` seconds. */
export function chirp(from: number, to: number, duration: number, amplitude = 0.5): Signal {
  const slope = (to - from) / duration;
  return (seconds) => amplitude * Math.sin(2 * Math.PI * (from + (slope * seconds) / 2) * seconds);
}

/** White noise; the same for the same seed. */
export function noise(amplitude: number, seed = 1): Signal {
  const random = new Mulberry32(seed);
  return () => amplitude * (2 * random.next() - 1);
}

/** Signals added up. */
export function mix(...signals: readonly Signal[]): Signal {
  return (seconds) => signals.reduce((sum, signal) => sum + signal(seconds), 0);
}

/** Writes a WAV file piece by piece; its header is completed by close(). */
export class WavWriter {
  private readonly file: number;
  private readonly encoding: Encoding;
  private dataBytes = 0;

  constructor(
    path: string,
    private readonly format: WavFormat = MONO_16K,
  ) {
    this.encoding = ENCODINGS[format.kind];
    this.file = openSync(path, 'w');
    writeSync(this.file, Buffer.alloc(this.headerBytes()));
  }

  get seconds(): number {
    return this.dataBytes / this.frameBytes() / this.format.sampleRate;
  }

  /** The same signal in every channel, or one of each. Time starts at 0 in every piece. */
  add(signal: Signal | readonly Signal[], seconds: number): this {
    const signals = typeof signal === 'function' ? Array.from({ length: this.format.channels }, () => signal) : signal;
    const frames = Math.round(seconds * this.format.sampleRate);
    for (let from = 0; from < frames; from += BLOCK_FRAMES) {
      this.addRaw(this.block(signals, from, Math.min(BLOCK_FRAMES, frames - from)));
    }
    return this;
  }

  /** Bytes that are in the file's format already. */
  addRaw(bytes: Buffer): this {
    writeSync(this.file, bytes);
    this.dataBytes += bytes.length;
    return this;
  }

  /** Returns the file's duration in seconds. */
  close(): number {
    writeSync(this.file, this.header(), 0, this.headerBytes(), 0);
    closeSync(this.file);
    return this.seconds;
  }

  private frameBytes(): number {
    return this.encoding.bytes * this.format.channels;
  }

  private headerBytes(): number {
    return this.format.extensible === true ? EXTENSIBLE_HEADER_BYTES : HEADER_BYTES;
  }

  private block(signals: readonly Signal[], from: number, frames: number): Buffer {
    const bytes = Buffer.alloc(frames * this.frameBytes());
    let at = 0;
    for (let frame = 0; frame < frames; frame++) {
      const seconds = (from + frame) / this.format.sampleRate;
      const shared = signals.every((signal) => signal === signals[0]) ? signals[0]?.(seconds) : undefined;
      for (const signal of signals) {
        this.encoding.write(bytes, at, shared ?? signal(seconds));
        at += this.encoding.bytes;
      }
    }
    return bytes;
  }

  private header(): Buffer {
    const size = this.headerBytes();
    const extensible = size === EXTENSIBLE_HEADER_BYTES;
    const bytes = Buffer.alloc(size);
    bytes.write('RIFF', 0);
    bytes.writeUInt32LE(Math.min(size - 8 + this.dataBytes, 0xffffffff), 4);
    bytes.write('WAVEfmt ', 8);
    bytes.writeUInt32LE(size - 28, 16);
    bytes.writeUInt16LE(extensible ? 0xfffe : this.encoding.tag, 20);
    bytes.writeUInt16LE(this.format.channels, 22);
    bytes.writeUInt32LE(this.format.sampleRate, 24);
    bytes.writeUInt32LE(this.format.sampleRate * this.frameBytes(), 28);
    bytes.writeUInt16LE(this.frameBytes(), 32);
    bytes.writeUInt16LE(this.encoding.bytes * 8, 34);
    if (extensible) {
      bytes.writeUInt16LE(22, 36);
      bytes.writeUInt16LE(this.encoding.bytes * 8, 38);
      bytes.writeUInt16LE(this.encoding.tag, 44);
      SUBTYPE.copy(bytes, 46);
    }
    bytes.write('data', size - 8);
    bytes.writeUInt32LE(Math.min(this.dataBytes, 0xffffffff), size - 4);
    return bytes;
  }
}

/** A WAV file of one signal; returns its duration in seconds. */
export function writeSignal(
  path: string,
  signal: Signal | readonly Signal[],
  seconds: number,
  format: WavFormat = MONO_16K,
): number {
  return new WavWriter(path, format).add(signal, seconds).close();
}

export interface LongFile {
  /** WAV files of 16-bit mono at 16 kHz, as WavWriter and most tools write them; taken in turns. */
  clips: readonly string[];
  /** The file gets at least this long, and ends behind a whole clip. */
  seconds: number;
  /** Between clips. */
  pauseSeconds: number;
  /** What the pauses are filled with. */
  pause?: Signal;
}

/** Clips one after another with pauses between them; returns the duration in seconds. */
export function writeLongFile(path: string, { clips, seconds, pauseSeconds, pause = silence }: LongFile): number {
  const writer = new WavWriter(path);
  for (let turn = 0; writer.seconds < seconds; turn++) {
    const clip = clips[turn % clips.length];
    if (clip === undefined) throw new RangeError('A long file needs clips.');
    copySamples(clip, writer);
    writer.add(pause, pauseSeconds);
  }
  return writer.close();
}

function copySamples(path: string, writer: WavWriter): void {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(4096);
    const length = readSync(file, head, 0, head.length, 0);
    const data = head.subarray(0, length).indexOf('data');
    if (data < 0 || head.toString('latin1', 0, 4) !== 'RIFF') throw new Error(`${path} is not a plain WAV file.`);
    if (head.readUInt16LE(20) !== 1 || head.readUInt16LE(22) !== 1 || head.readUInt32LE(24) !== 16_000) {
      throw new Error(`${path} is not 16-bit mono at 16 kHz.`);
    }
    const end = data + 8 + head.readUInt32LE(data + 4);
    const block = Buffer.alloc(256 * 1024);
    for (let at = data + 8; at < end;) {
      const count = readSync(file, block, 0, Math.min(block.length, end - at), at);
      if (count === 0) break;
      writer.addRaw(block.subarray(0, count));
      at += count;
    }
  } finally {
    closeSync(file);
  }
}
