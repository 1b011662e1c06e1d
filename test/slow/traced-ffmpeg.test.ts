/**
 * What ffmpeg asks the kernel for, as strace sees it, when a list of other files comes behind the first bytes of a
 * recording.
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/engine/clock.js';
import { containerOf } from '../../src/engine/media/containers.js';
import { Conversion } from '../../src/engine/media/conversion.js';
import { recordingOf } from '../support/recordings.js';

const WAV = join(__dirname, '..', 'fixtures', 'audio', 'samples', 'en-wav16.wav');
const MP4_HEAD = Buffer.from('\0\0\0\x14ftypisom\0\0\0\0isom', 'latin1');
/** A port that nobody listens on. */
const NOWHERE = 'http://127.0.0.1:9/canary.ts';
const TRACE = ['-f', '-qq', '-s', '4096', '-e', 'trace=open,openat,openat2,creat,socket,connect'];

interface Trace {
  opened: Set<string>;
  network: string[];
}

describe('ffmpeg under strace', () => {
  let directory: string;
  let log: string;
  let canary: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'verbatim-traced-'));
    log = join(directory, 'trace');
    canary = recordingOf(WAV, join(directory, 'canary.mp4'), ['-c:a', 'aac']);
  });
  after(() => rmSync(directory, { recursive: true }));

  const list = (target: string): string => `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:3,\n${target}\n#EXT-X-ENDLIST\n`;

  function traced(): Trace {
    const lines = readFileSync(log, 'utf8').split('\n');
    const paths = lines.map((line) => /^\d+ +(?:open|openat|openat2|creat)\([^"]*"([^"]*)"/.exec(line)?.[1]);
    return {
      opened: new Set(paths.filter((path) => path !== undefined)),
      network: lines.filter((line) => /^\d+ +(socket|connect)\(/.test(line)),
    };
  }

  /** As the service converts it, but for strace between prlimit and ffmpeg. */
  async function convert(bytes: Buffer): Promise<Trace & { error: unknown }> {
    const [from, to, ffmpeg] = ['given', 'made', 'traced-ffmpeg'].map((name) => join(directory, name));
    writeFileSync(from!, bytes);
    writeFileSync(ffmpeg!, `#!/bin/sh\nexec strace ${TRACE.join(' ')} -o ${log} ffmpeg "$@"\n`);
    chmodSync(ffmpeg!, 0o700);
    const container = await containerOf(from!);
    if (container === null) throw new Error('It is not taken for a recording.');
    const job = { from: from!, to: to!, maxSeconds: 60, isDemoted: false };
    const conversion = new Conversion(ffmpeg!, { ...job, container }, systemClock);
    let error: unknown = null;
    try {
      while ((await conversion.measure()) === null);
    } catch (caught) {
      error = caught;
    }
    await conversion.gone;
    return { ...traced(), error };
  }

  it('sees what a list makes ffmpeg open when nothing keeps it from that', () => {
    const given = join(directory, 'list.m3u8');
    const free = ['-protocol_whitelist', 'file,http,tcp', '-allowed_extensions', 'ALL', '-i', given];
    for (const [target, wanted] of [
      [canary, 'opened'],
      [NOWHERE, 'network'],
    ] as const) {
      writeFileSync(given, list(target));
      spawnSync('strace', [...TRACE, '-o', log, 'ffmpeg', '-nostdin', ...free, '-f', 'null', '-']);
      const { opened, network } = traced();
      if (wanted === 'opened') expect([...opened]).to.include(canary);
      else expect(network.join('\n')).to.match(/connect\(.*sin_port=htons\(9\)/);
    }
  });

  it('opens the given file, what it opens for any recording, and nothing else; no socket is made', async () => {
    const usual = await convert(readFileSync(canary));
    expect(usual.error).to.equal(null);
    expect([...usual.opened])
      .to.include(join(directory, 'given'))
      .and.not.to.include(canary);
    expect(usual.network).to.deep.equal([]);
    for (const target of [canary, `file:${canary}`, NOWHERE, '/etc/passwd']) {
      const { opened, network, error } = await convert(Buffer.concat([MP4_HEAD, Buffer.from(`\n${list(target)}`)]));
      expect(error, target).to.have.property('code').that.is.oneOf(['invalid_audio', 'unsupported_audio_format']);
      expect(network, target).to.deep.equal([]);
      expect([...opened], target).to.include(join(directory, 'given'));
      expect(
        [...opened].filter((path) => !usual.opened.has(path)),
        target,
      ).to.deep.equal([]);
    }
  });
});
