/** Streams as browsers and telephones send them, made by ffmpeg, which `setup` installs. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

export interface EncodedStream {
  name: string;
  args: readonly string[];
}

export const STREAMS: readonly EncodedStream[] = [
  { name: 'WebM, as MediaRecorder sends it', args: ['-ar', '48000', '-c:a', 'libopus', '-f', 'webm', '-live', '1'] },
  { name: 'Ogg with Opus', args: ['-c:a', 'libopus', '-page_duration', '20000', '-f', 'ogg'] },
  { name: 'Ogg with Vorbis', args: ['-ar', '44100', '-c:a', 'libvorbis', '-f', 'ogg'] },
  { name: 'Ogg with FLAC', args: ['-c:a', 'flac', '-f', 'ogg'] },
  { name: 'FLAC', args: ['-c:a', 'flac', '-f', 'flac'] },
  { name: 'WAV of 44.1 kHz in stereo', args: ['-ar', '44100', '-ac', '2', '-c:a', 'pcm_s16le', '-f', 'wav'] },
  { name: 'MP3', args: ['-c:a', 'libmp3lame', '-f', 'mp3'] },
  { name: 'AAC (ADTS)', args: ['-c:a', 'aac', '-f', 'adts'] },
  {
    name: 'fragmented MP4, as Safari sends it',
    args: [
      '-c:a',
      'aac',
      '-movflags',
      'frag_keyframe+empty_moov+default_base_moof',
      '-frag_duration',
      '100000',
      '-f',
      'mp4',
    ],
  },
];

/** Of samples of 16 bits, mono at 16 kHz. */
export function encoded(pcm: Buffer, args: readonly string[]): Buffer {
  const input = ['-f', 's16le', '-ar', '16000', '-ac', '1', '-i', 'pipe:0'];
  const { error, status, stdout, stderr } = spawnSync(
    'ffmpeg',
    ['-nostdin', '-v', 'error', ...input, ...args, 'pipe:1'],
    { input: pcm, maxBuffer: 2 ** 28 },
  );
  expect([error, status], stderr.toString()).to.deep.equal([undefined, 0]);
  return stdout;
}

/** The packets in an Ogg stream of one track; the first two are headers. */
export function packetsOf(ogg: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let open: Buffer[] = [];
  for (let at = 0; at < ogg.length;) {
    const segments = ogg.subarray(at + 27, at + 27 + ogg.readUInt8(at + 26));
    at += 27 + segments.length;
    for (const length of segments) {
      open.push(ogg.subarray(at, at + length));
      at += length;
      if (length === 255) continue;
      packets.push(Buffer.concat(open));
      open = [];
    }
  }
  return packets;
}
