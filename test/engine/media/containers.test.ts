/** What content says: every kind of recording is known, and nothing is taken for one that is none. */
import { expect } from 'chai';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerOf, FileHead } from '../../../src/engine/media/containers.js';

const fixtures = join(__dirname, '..', '..', 'fixtures', 'audio');

const atom = (type: string): Buffer => Buffer.from(`\0\0\0\x10${type}12345678`, 'latin1');
/** So many bytes with a header that says so. */
function adtsFrame(bytes: number): Buffer {
  const frame = Buffer.alloc(bytes);
  frame.set([0xff, 0xf1, 0x50, 0x80]);
  frame.writeUIntBE((0x80 << 16) | (bytes << 5) | 0x1f, 3, 3);
  return frame;
}
const id3 = (bytes: number): Buffer =>
  Buffer.concat([Buffer.from('ID3\x04\0\0'), Buffer.from([0, 0, bytes >> 7, bytes & 127]), Buffer.alloc(bytes)]);

const KNOWN: Record<string, readonly [string, Buffer]> = {
  WebM: ['matroska', Buffer.from('1a45dfa3010000000000001f', 'hex')],
  ...Object.fromEntries(
    ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp', 'moof'].map((type) => [
      `MP4 beginning with ${type}`,
      ['mov', atom(type)] as const,
    ]),
  ),
  AIFF: ['aiff', Buffer.from('FORM1234AIFFCOMM')],
  AIFC: ['aiff', Buffer.from('FORM1234AIFCFVER')],
  CAF: ['caf', Buffer.from('caff\0\x01\0\0desc', 'latin1')],
  WMA: ['asf', Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex')],
  'AMR, narrow': ['amr', Buffer.from('#!AMR\n\x3c')],
  'AMR, wide': ['amr', Buffer.from('#!AMR-WB\n\x3c')],
  AAC: ['aac', Buffer.concat([adtsFrame(300), adtsFrame(20)])],
  'AAC of one frame': ['aac', adtsFrame(300)],
  ...Object.fromEntries(
    [0, 3, 6, 1000].map((bytes) => [
      `AAC behind a tag of ${bytes} bytes`,
      ['aac', Buffer.concat([id3(bytes), adtsFrame(300), adtsFrame(20)])] as const,
    ]),
  ),
};

const UNKNOWN: Record<string, Buffer> = {
  nothing: Buffer.alloc(0),
  'a few bytes': Buffer.from('fty'),
  'HLS list': Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://example.com/a.ts\n'),
  'concat script': Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\n"),
  'DASH manifest': Buffer.from('<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"/>'),
  SDP: Buffer.from('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=audio 5004 RTP/AVP 0\r\n'),
  ASX: Buffer.from('[Reference]\nRef1=http://example.com/a.asf\n'),
  AVI: Buffer.from('RIFF1234AVI LIST'),
  FORM: Buffer.from('FORM1234ILBMBMHD'),
  'AMR of many channels': Buffer.from('#!AMR_MC1.0\n'),
  'a frame of AAC with no other behind it': Buffer.concat([adtsFrame(300), Buffer.alloc(64)]),
  'a tag without anything behind it': id3(1000),
  'a tag that reaches beyond the end': id3(1000).subarray(0, 20),
  PNG: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
};

describe('What content says', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'verbatim-containers-'))));
  after(() => rmSync(directory, { recursive: true }));

  /** The same whether its head is known or not. */
  const demuxerOf = async (bytes: Buffer): Promise<string | null> => {
    const path = join(directory, 'file.wav');
    writeFileSync(path, bytes);
    const found = await containerOf(path);
    expect(await containerOf(path, headOf(bytes))).to.equal(found);
    return found?.demuxer ?? null;
  };
  const headOf = (bytes: Buffer, piece = 5): string => {
    const head = new FileHead();
    for (let at = 0; at < bytes.length; at += piece) head.add(bytes.subarray(at, at + piece));
    return head.text;
  };

  for (const [name, [demuxer, bytes]] of Object.entries(KNOWN)) {
    it(`${name} is for ffmpeg`, async () => {
      expect(await demuxerOf(bytes)).to.equal(demuxer);
    });
  }
  for (const [name, bytes] of Object.entries(UNKNOWN)) {
    it(`${name}: not`, async () => {
      expect(await demuxerOf(bytes)).to.equal(null);
    });
  }

  it('what the engine reads itself is not, nor what is no file', async () => {
    for (const folder of ['samples', 'formats', 'clips', 'unknown']) {
      for (const name of readdirSync(join(fixtures, folder)))
        expect(await demuxerOf(readFileSync(join(fixtures, folder, name))), name).to.equal(null);
    }
    expect(await containerOf(directory)).to.equal(null);
  });

  it('opens no file whose head decides', async () => {
    const nowhere = join(directory, 'nowhere');
    for (const bytes of [KNOWN['WebM']?.[1], KNOWN['AMR, narrow']?.[1]])
      expect(await containerOf(nowhere, headOf(bytes ?? Buffer.alloc(0)))).not.to.equal(null);
    for (const head of ['RIFF\x24\0\0\0WAVEfmt ', 'fLaC', 'OggS', '\xff\xfb\x90\x64\0\0\0\0', ''])
      expect(await containerOf(nowhere, head), head).to.equal(null);
    const mp3 = Buffer.from('fffb9064000000000000000000000000', 'hex');
    for (const tagBytes of [0, 2, 6, 7, 1000, 16_000]) {
      for (const piece of [1, 7, 12, 4096, 65_536]) {
        const head = headOf(Buffer.concat([id3(tagBytes), mp3]), piece);
        expect(await containerOf(nowhere, head), `a tag of ${tagBytes} in pieces of ${piece}`).to.equal(null);
        expect(head.length).to.be.at.most(23);
      }
    }
    for (const bytes of [adtsFrame(300), Buffer.concat([id3(1000), adtsFrame(300)])]) {
      const failed = await containerOf(nowhere, headOf(bytes)).catch((error: unknown) => error);
      expect(failed).to.include({ code: 'ENOENT' });
    }
  });
});
