/** The media type of a kept recording, by its content: browsers play a file by it. */
import { open } from 'node:fs/promises';

/** What a file begins with, by offset; the first that fits. */
const MAGICS: readonly (readonly [type: string, ...(readonly [at: number, magic: string])[]])[] = [
  ['audio/wav', [0, 'RIFF'], [8, 'WAVE']],
  ['audio/wav', [0, 'RF64']],
  ['audio/flac', [0, 'fLaC']],
  ['audio/ogg', [0, 'OggS']],
  ['audio/webm', [0, '\x1a\x45\xdf\xa3']],
  ['audio/mp4', [4, 'ftyp']],
  ['audio/aiff', [0, 'FORM']],
  ['audio/x-caf', [0, 'caff']],
  ['audio/amr', [0, '#!AMR']],
  ['audio/mpeg', [0, 'ID3']],
];
const HEAD_BYTES = 16;
const OTHER = 'application/octet-stream';

/** All that audioType() may give. */
export const AUDIO_TYPES: readonly string[] = [...new Set(MAGICS.map(([type]) => type)), 'audio/aac', OTHER];

/** null: there is no such file. */
export async function audioType(path: string): Promise<string | null> {
  const head = await headOf(path);
  if (head === null) return null;
  const text = head.toString('latin1');
  const found = MAGICS.find(([, ...magics]) => magics.every(([at, magic]) => text.startsWith(magic, at)));
  return found?.[0] ?? framesOf(head);
}

/** MPEG audio and AAC begin with a frame: eleven bits that are set, and a layer, which AAC (ADTS) has none of. */
function framesOf(head: Buffer): string {
  const [first = 0, second = 0] = head;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return OTHER;
  return (second & 0xf6) === 0xf0 ? 'audio/aac' : 'audio/mpeg';
}

async function headOf(path: string): Promise<Buffer | null> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
