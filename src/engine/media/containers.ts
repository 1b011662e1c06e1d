/**
 * The containers that ffmpeg reads for us, recognised by their content alone. Text is never one of them: a playlist or
 * a script, which names other files, has no way to a program that would open these.
 */
import { open, stat, type FileHandle } from 'node:fs/promises';

export interface Container {
  /** For people. */
  name: string;
  /** ffmpeg's, the only one that is let near the file. */
  demuxer: string;
  /** Of the demuxer. */
  options: readonly string[];
}

export const MATROSKA: Container = { name: 'WebM or Matroska', demuxer: 'matroska', options: [] };
export const MOV: Container = {
  name: 'MP4, MOV or 3GP',
  demuxer: 'mov',
  // A track may say that its samples lie in another file, by any path or URL.
  options: ['-enable_drefs', '0', '-use_absolute_path', '0'],
};
const AIFF: Container = { name: 'AIFF', demuxer: 'aiff', options: [] };
const CAF: Container = { name: 'CAF', demuxer: 'caf', options: [] };
const ASF: Container = { name: 'WMA or ASF', demuxer: 'asf', options: [] };
const AMR: Container = { name: 'AMR', demuxer: 'amr', options: [] };
export const ADTS: Container = { name: 'AAC (ADTS)', demuxer: 'aac', options: [] };

/** For messages: the formats that are read beside WAV, FLAC, MP3 and OGG. */
export const CONTAINER_NAMES = 'WebM, Matroska, MP4, MOV, 3GP, AAC, CAF, AIFF, AMR or WMA';

/** Enough to know all but AAC by. */
export const HEAD_BYTES = 16;
const ADTS_HEADER_BYTES = 7;

/** All that a file of one of these begins with, by offset. */
const MAGICS: readonly (readonly [Container, ...(readonly [number, string])[]])[] = [
  [MATROSKA, [0, '\x1a\x45\xdf\xa3']],
  [AIFF, [0, 'FORM'], [8, 'AIFF']],
  [AIFF, [0, 'FORM'], [8, 'AIFC']],
  [CAF, [0, 'caff']],
  [ASF, [0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c']],
  [AMR, [0, '#!AMR\n']],
  [AMR, [0, '#!AMR-WB\n']],
  // Old QuickTime files have no "ftyp"; pieces of a live stream begin with "styp" or "moof".
  ...['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp', 'moof'].map((atom) => [MOV, [4, atom]] as const),
];

/**
 * What containerOf() needs of a file whose bytes pass by: the first HEAD_BYTES, and behind them, where they begin a
 * tag (ID3), the first bytes behind that tag. MP3 files have tags of any size, mostly with a picture.
 */
export class FileHead {
  #bytes = Buffer.alloc(0);
  #passed = 0;

  add(chunk: Buffer): void {
    this.#take(chunk, 0, HEAD_BYTES);
    const tag = id3Bytes(this.#bytes);
    if (tag > 0 && this.#bytes.length >= HEAD_BYTES)
      this.#take(chunk, Math.max(tag, HEAD_BYTES), HEAD_BYTES + ADTS_HEADER_BYTES);
    this.#passed += chunk.length;
  }

  /** In latin1. */
  get text(): string {
    return this.#bytes.toString('latin1');
  }

  /** Of the file's bytes from `start` on, until there are `most` in all. */
  #take(chunk: Buffer, start: number, most: number): void {
    const from = Math.max(0, start - this.#passed);
    const taken = chunk.subarray(from, from + Math.max(0, most - this.#bytes.length));
    if (taken.length > 0) this.#bytes = Buffer.concat([this.#bytes, taken]);
  }
}

/**
 * null: none of these, or no file. The file is opened only where its `head`, see FileToConvert, does not decide.
 * Rejects as open() does.
 */
export async function containerOf(path: string, head?: string): Promise<Container | null> {
  if (head !== undefined && !beginsAdtsFrame(firstFrame(Buffer.from(head, 'latin1')))) return byMagic(head);
  // Opening a pipe would wait for its writer.
  if (!(await stat(path)).isFile()) return null;
  const file = await open(path, 'r');
  try {
    const bytes = await bytesAt(file, 0, HEAD_BYTES);
    return byMagic(bytes.toString('latin1')) ?? ((await isAdts(file, bytes)) ? ADTS : null);
  } finally {
    await file.close();
  }
}

function byMagic(head: string): Container | null {
  const found = MAGICS.find(([, ...magics]) => magics.every(([at, magic]) => head.startsWith(magic, at)));
  return found?.[0] ?? null;
}

/** The first bytes of the first frame in a FileHead: those behind the tag, if there is one. */
function firstFrame(head: Buffer): Buffer {
  return head.subarray(Math.min(id3Bytes(head), HEAD_BYTES));
}

/** Two bytes are a weak sign: the frame has to be followed by another one, or by the file's end. */
async function isAdts(file: FileHandle, head: Buffer): Promise<boolean> {
  const start = id3Bytes(head);
  const first = start === 0 ? head : await bytesAt(file, start, ADTS_HEADER_BYTES);
  if (!beginsAdtsFrame(first)) return false;
  const next = await bytesAt(file, start + adtsFrameBytes(first), ADTS_HEADER_BYTES);
  return next.length === 0 || beginsAdtsFrame(next);
}

/** MP3 has the same first bits; ADTS has 00 where that has its layer. */
function beginsAdtsFrame(bytes: Buffer): boolean {
  if (bytes.length < ADTS_HEADER_BYTES) return false;
  return bytes[0] === 0xff && (bytes.readUInt8(1) & 0xf6) === 0xf0 && adtsFrameBytes(bytes) > ADTS_HEADER_BYTES;
}

function adtsFrameBytes(header: Buffer): number {
  return (header.readUIntBE(3, 3) >> 5) & 0x1fff;
}

/** The length of the tag at the file's beginning; 0: there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.readUInt8(at) & 0x7f), 0);
  return 10 + size;
}

/** Fewer at the file's end. */
async function bytesAt(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, at);
  return buffer.subarray(0, bytesRead);
}
