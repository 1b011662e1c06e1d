/** Files that cost ffmpeg a great deal and have hardly any audio, or none. */

/** Matroska: PCM of five seconds behind so many tags, each of which ffmpeg holds against all before it. */
export function matroskaOfTags(count: number): Buffer {
  const text = (id: string, value: string): Buffer => element(id, Buffer.from(value, 'latin1'));
  const header = element('1a45dfa3', Buffer.concat([text('4282', 'webm'), element('4287', [4]), element('4285', [2])]));
  const info = element('1549a966', element('2ad7b1', [0x0f, 0x42, 0x40]));
  const tags = Array.from({ length: count }, (_, n) => {
    const name = `TAG${String(n).padStart(7, '0')}`;
    return element('67c8', Buffer.concat([text('45a3', name), text('4487', 'a value of it')]));
  });
  const parts = [info, PCM_TRACK, element('1254c367', element('7373', Buffer.concat(tags))), PCM_CLUSTER];
  return Buffer.concat([header, element('18538067', Buffer.concat(parts))]);
}

/** AMR whose frames say that there is no data. */
export function amrWithoutData(bytes: number): Buffer {
  return Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(bytes, 0x7c)]);
}

const SIXTEEN_KHZ = Buffer.alloc(8);
SIXTEEN_KHZ.writeDoubleBE(16_000);

const PCM_TRACK = element(
  '1654ae6b',
  element(
    'ae',
    Buffer.concat([
      ...[element('d7', [1]), element('73c5', [1]), element('83', [2])],
      element('86', Buffer.from('A_PCM/INT/LIT')),
      element('e1', Buffer.concat([element('b5', SIXTEEN_KHZ), element('9f', [1]), element('6264', [16])])),
    ]),
  ),
);

/** Blocks of a tenth of a second. */
const PCM_CLUSTER = element(
  '1f43b675',
  Buffer.concat([
    element('e7', [0]),
    ...Array.from({ length: 50 }, (_, n) => {
      const time = n * 100;
      return element('a3', Buffer.concat([Buffer.from([0x81, time >> 8, time & 255, 0x80]), Buffer.alloc(3200)]));
    }),
  ]),
);

/** With its length in eight bytes. */
function element(id: string, content: Buffer | readonly number[]): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(bytes.length));
  length[0] = 0x01;
  return Buffer.concat([Buffer.from(id, 'hex'), length, bytes]);
}
