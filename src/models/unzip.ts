/** Unpacks an untrusted archive. */
import { createWriteStream, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { openPromise, type Entry, type ZipFile } from 'yauzl';

export interface UnzipLimits {
  entries: number;
  /** The most bytes of all files together. */
  bytes: number;
  /** The most bytes that may come out for each byte of the archive. Weights hardly compress. */
  ratio: number;
}

export const UNZIP_LIMITS: UnzipLimits = { entries: 4096, bytes: 16 * 2 ** 30, ratio: 100 };

/** Small archives of repetitive text may exceed `ratio`. */
const ALWAYS_ALLOWED_BYTES = 16 << 20;

const FILE_TYPE_MASK = 0o170000;
const REGULAR_FILE = 0o100000;
const DIRECTORY = 0o040000;

/**
 * Writes the archive's files below `directory`. Throws an Error for names that lead out of the directory, links and
 * other special files, encrypted entries, more or larger entries than the limits allow, and content with a wrong
 * checksum or size. Files that were already written stay; the caller removes them.
 */
export async function unzip(archive: string, directory: string, limits: UnzipLimits = UNZIP_LIMITS): Promise<void> {
  const refuse = (reason: string): Error => new Error(`${archive} was refused: ${reason}.`);
  const zip = await openPromise(archive, { autoClose: false }).catch((error: unknown) => {
    throw refuse(`it is no zip archive (${(error as Error).message})`);
  });
  try {
    const most = Math.min(limits.bytes, Math.max(ALWAYS_ALLOWED_BYTES, limits.ratio * statSync(archive).size));
    await unpackAll(zip, directory, { ...limits, bytes: most });
  } catch (error) {
    throw refuse((error as Error).message.replace(/\.$/, ''));
  } finally {
    zip.close();
  }
}

async function unpackAll(zip: ZipFile, directory: string, limits: UnzipLimits): Promise<void> {
  if (zip.entryCount > limits.entries) {
    throw new Error(`it has ${zip.entryCount} entries; at most ${limits.entries} are allowed`);
  }
  let bytes = 0;
  // The reader itself refuses absolute names, '..' and backslashes.
  for await (const entry of zip.eachEntry()) {
    checkKind(entry);
    bytes += entry.uncompressedSize;
    if (bytes > limits.bytes) throw new Error(`it unpacks to more than ${limits.bytes} bytes`);
    const path = join(directory, entry.fileName);
    if (entry.fileName.endsWith('/')) mkdirSync(path, { recursive: true });
    else await unpack(zip, entry, path);
  }
}

function checkKind(entry: Entry): void {
  if (entry.isEncrypted()) throw new Error(`"${entry.fileName}" is encrypted`);
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE_MASK;
  if (type !== 0 && type !== REGULAR_FILE && type !== DIRECTORY) {
    throw new Error(`"${entry.fileName}" is a link or a special file`);
  }
}

async function unpack(zip: ZipFile, entry: Entry, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  let checksum = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      checksum = crc32(chunk, checksum);
      done(null, chunk);
    },
  });
  await pipeline(await zip.openReadStreamPromise(entry), check, createWriteStream(path, { flags: 'wx' }));
  if (checksum !== entry.crc32) throw new Error(`"${entry.fileName}" does not have its checksum`);
}
