/** Zip archives, honest ones and others. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  name: string;
  data?: Buffer | string;
  /** Unix mode, e.g. 0o120777 for a symbolic link. */
  mode?: number;
  deflate?: boolean;
  /** What the headers claim instead of the truth. */
  claims?: { crc?: number; size?: number };
  encrypted?: boolean;
}

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? '');
    const stored = entry.deflate === true ? deflateRawSync(data) : data;
    const name = Buffer.from(entry.name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE((entry.encrypted === true ? 1 : 0) | 0x800, 2);
    common.writeUInt16LE(entry.deflate === true ? 8 : 0, 4);
    common.writeUInt32LE(entry.claims?.crc ?? crc32(data), 10);
    common.writeUInt32LE(stored.length, 14);
    common.writeUInt32LE(entry.claims?.size ?? data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, stored]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.from('PK\x01\x02', 'latin1'), Buffer.from([20, 3]), common.subarray(0, 26), rest, name);
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
