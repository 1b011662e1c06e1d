/** A QuickTime file that says of its samples that they lie elsewhere. */

export type Elsewhere = { path: string } | { sibling: string } | { url: string };

const OUTER = ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref'];

/** Of one track, with its index behind the samples, as ffmpeg writes them; its own samples become silence. */
export function outsideMov(mov: Buffer, elsewhere: Elsewhere): Buffer {
  const out = Buffer.from(mov);
  const data = out.indexOf('mdat', 0, 'latin1');
  out.fill(0, data + 4, data - 4 + out.readUInt32BE(data - 4));
  const entry = 'url' in elsewhere ? urlEntry(elsewhere.url) : aliasEntry(elsewhere);
  const dref = out.indexOf('dref', data, 'latin1');
  // Size, type, flags and the number of entries stay.
  const start = dref + 12;
  const end = dref - 4 + out.readUInt32BE(dref - 4);
  const grown = Buffer.concat([out.subarray(0, start), entry, out.subarray(end)]);
  for (const type of OUTER) {
    const at = grown.lastIndexOf(type, dref, 'latin1') - 4;
    grown.writeUInt32BE(grown.readUInt32BE(at) + entry.length - (end - start), at);
  }
  return grown;
}

function urlEntry(url: string): Buffer {
  const bytes = Buffer.from(`\0\0\0\0url \0\0\0\0${url}\0`, 'latin1');
  bytes.writeUInt32BE(bytes.length, 0);
  return bytes;
}

/** An alias record of the Macintosh: which volume and file it is, and records of its path, with colons. */
function aliasEntry(where: { path: string } | { sibling: string }): Buffer {
  const path = 'path' in where ? where.path : `/${where.sibling}`;
  const colons = Buffer.from(path.replaceAll('/', ':'), 'latin1');
  const padded = Buffer.concat([colons, Buffer.alloc(colons.length % 2)]);
  const fixed = Buffer.alloc(12 + 150);
  fixed.write('alis', 4, 'latin1');
  // Levels up to a folder that both are in, and down to the file.
  if ('sibling' in where) fixed.fill(Buffer.from([0, 1, 0, 1]), 12 + 130, 12 + 134);
  const record = Buffer.from([0, 2, padded.length >> 8, padded.length & 255]);
  const entry = Buffer.concat([fixed, record, padded, Buffer.from([255, 255, 0, 0])]);
  entry.writeUInt32BE(entry.length, 0);
  return entry;
}
