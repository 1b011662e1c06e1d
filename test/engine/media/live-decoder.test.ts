/** Streams through the confined ffmpeg: whatever pieces they come in, and however they end. */
import { expect } from 'chai';
import { liveContainerOf, OGG } from '../../../src/engine/media/live-containers.js';
import { ConversionKilled } from '../../../src/engine/media/failures.js';
import { LiveDecoder, type LiveDecoderOptions } from '../../../src/engine/media/live-decoder.js';
import { OggOpusWriter } from '../../../src/engine/media/ogg-opus.js';
import { systemTimers } from '../../../src/timers.js';
import { isAlive, liveDecodersOf } from '../../support/child-processes.js';
import { encoded, packetsOf, STREAMS } from '../../support/encoded-audio.js';
import { Mulberry32 } from '../../support/random.js';
import { SEED } from '../../support/seed.js';
import { pcmOfSample } from '../../support/speech.js';
import { until } from '../../support/until.js';

class Decoding {
  readonly pieces: Buffer[] = [];
  readonly decoder: LiveDecoder;
  end: Error | null | undefined;

  constructor(stream: Buffer, options: Partial<LiveDecoderOptions> = {}) {
    this.decoder = new LiveDecoder({
      ...{ ffmpeg: 'ffmpeg', container: liveContainerOf(stream)!, maxSeconds: 100, timers: systemTimers },
      onSamples: (samples) => {
        this.pieces.push(samples);
        return Promise.resolve();
      },
      ...options,
    });
    void this.decoder.ended.then((end) => (this.end = end));
  }

  get samples(): Buffer {
    return Buffer.concat(this.pieces);
  }
}

/** Correlation of two signals at the best shift of at most 120 ms. */
function likeness(one: Buffer, other: Buffer): number {
  const [a, b] = [one, other].map((bytes) => new Int16Array(new Uint8Array(bytes).buffer)) as [Int16Array, Int16Array];
  let best = 0;
  for (let shift = -1920; shift <= 1920; shift += 4) {
    let [product, ofA, ofB] = [0, 0, 0];
    for (let i = Math.max(0, -shift); i < Math.min(a.length, b.length - shift); i += 3) {
      const [x, y] = [a[i]!, b[i + shift]!];
      product += x * y;
      ofA += x * x;
      ofB += y * y;
    }
    best = Math.max(best, product / Math.sqrt(ofA * ofB));
  }
  return best;
}

describe('The decoder of live streams', () => {
  const pcm = pcmOfSample();
  const webm = encoded(pcm, STREAMS[0]!.args);
  const random = new Mulberry32(SEED);

  afterEach('no process is left', async () => {
    await until(() => liveDecodersOf().length === 0);
  });

  for (const { name, args } of STREAMS) {
    it(`reads ${name}, in pieces of any size`, async () => {
      const stream = encoded(pcm, args);
      const whole = new Decoding(stream);
      await whole.decoder.write(stream);
      whole.decoder.end();
      expect(await whole.decoder.ended).to.equal(null);
      expect(whole.samples.length / 32_000).to.be.closeTo(pcm.length / 32_000, 0.15);
      expect(likeness(pcm, whole.samples)).to.be.above(0.9);
      const cut = new Decoding(stream);
      for (let at = 0; at < stream.length;) {
        const length = random.next() < 0.5 ? 1 + Math.floor(random.next() * 20) : 1 + Math.floor(random.next() * 5000);
        await cut.decoder.write(stream.subarray(at, at + length));
        at += length;
      }
      cut.decoder.end();
      expect(await cut.decoder.ended).to.equal(null);
      expect(cut.samples.equals(whole.samples)).to.equal(true);
      expect(cut.decoder.decodedSeconds).to.equal(cut.samples.length / 32_000);
    });
  }

  it('gives samples while the stream goes on', async () => {
    const decoding = new Decoding(webm);
    await decoding.decoder.write(webm.subarray(0, webm.length / 2));
    await until(() => decoding.decoder.decodedSeconds > 0.3);
    await decoding.decoder.settled();
    const before = decoding.decoder.decodedSeconds;
    expect(decoding.end).to.equal(undefined);
    await decoding.decoder.write(webm.subarray(webm.length / 2));
    decoding.decoder.end();
    await decoding.decoder.ended;
    expect(decoding.decoder.decodedSeconds).to.be.above(before);
  });

  it('reads Opus packets without a container, in the pages that it makes of them', async () => {
    const packets = packetsOf(encoded(pcm, ['-c:a', 'libopus', '-f', 'ogg'])).slice(2);
    const writer = new OggOpusWriter();
    const decoding = new Decoding(webm, { container: OGG });
    await decoding.decoder.write(writer.head({ sampleRate: 16_000, channels: 1 }));
    for (const packet of packets) await decoding.decoder.write(writer.page(packet)!);
    decoding.decoder.end();
    expect(await decoding.decoder.ended).to.equal(null);
    expect(likeness(pcm, decoding.samples)).to.be.above(0.9);
    for (const none of ['', 'ff', 'ffff', '03']) expect(writer.page(Buffer.from(none, 'hex'))).to.equal(null);
    expect(writer.page(Buffer.alloc(255 * 255))).to.equal(null);
  });

  it('fails by the stream that is none, and gives what came before it broke', async () => {
    const garbage = Buffer.alloc(200_000).map(() => Math.floor(random.next() * 256));
    const none = new Decoding(webm);
    await none.decoder.write(Buffer.concat([webm.subarray(0, 40), garbage]));
    none.decoder.end();
    expect(await none.decoder.ended).to.include({ code: 'invalid_audio' });
    const cut = new Decoding(webm);
    await cut.decoder.write(webm.subarray(0, webm.length - 1000));
    cut.decoder.end();
    expect(await cut.decoder.ended).to.equal(null);
    expect(cut.decoder.decodedSeconds).to.be.above(pcm.length / 32_000 / 2);
    const broken = new Decoding(webm);
    await broken.decoder.write(Buffer.concat([webm.subarray(0, webm.length / 2), garbage]));
    broken.decoder.end();
    await broken.decoder.ended;
    expect(broken.decoder.decodedSeconds).to.be.above(0.3);
  });

  it('says that it was killed, and kills what it is to close', async () => {
    const killed = new Decoding(webm);
    await killed.decoder.write(webm.subarray(0, 1000));
    await until(() => liveDecodersOf().length === 1);
    process.kill(liveDecodersOf()[0]!.pid, 'SIGKILL');
    expect(await killed.decoder.ended).to.be.an.instanceOf(ConversionKilled);
    await killed.decoder.write(webm);
    const closed = new Decoding(webm);
    await closed.decoder.write(webm.subarray(0, 1000));
    await until(() => liveDecodersOf().length === 1);
    const pid = liveDecodersOf()[0]!.pid;
    closed.decoder.close();
    expect(await closed.decoder.ended).to.equal(null);
    expect(isAlive(pid)).to.equal(false);
    closed.decoder.close();
  });

  it('takes no more than pipes hold while nobody takes its samples', async () => {
    const long = encoded(Buffer.alloc(32_000 * 600), ['-c:a', 'pcm_s16le', '-f', 'wav']);
    let given = 0;
    const decoding = new Decoding(long, {
      onSamples: (samples) => {
        given += samples.length;
        return new Promise(() => undefined);
      },
    });
    let taken = 0;
    const writing = (async () => {
      for (; taken < long.length; taken += 65_536) await decoding.decoder.write(long.subarray(taken, taken + 65_536));
    })();
    await until(() => given > 0);
    let before = -1;
    await until(async () => {
      const same = before === taken;
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return same;
    });
    expect(taken).to.be.below(2 ** 20);
    decoding.decoder.close();
    await writing;
  });

  it('is refused where there is no ffmpeg', async () => {
    const decoding = new Decoding(webm, { ffmpeg: '/nowhere/ffmpeg' });
    expect(await decoding.decoder.ended).to.include({ code: 'unsupported_audio_format' });
  });
});
