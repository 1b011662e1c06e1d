import { expect } from 'chai';
import { measureFairness, repeatedWav, summarizeFairness } from '../../src/bench/fairness.js';
import {
  serverTiming,
  verbatimTarget,
  whisperServerTarget,
  type Outcome,
  type Upload,
} from '../../src/bench/http-target.js';
import { openLoop, type LoadResult } from '../../src/bench/open-loop.js';
import { seededRandom } from '../../src/bench/random.js';
import { searchRate } from '../../src/bench/rate-search.js';
import { samplePath } from '../native/support.js';
import { StubServer, withStub } from './stub-server.js';

const upload: Upload = { name: 'clip.wav', bytes: new Blob(['abc']), seconds: 3, language: 'en' };

describe('Open-loop load', () => {
  it('does not wait for answers, and counts them, their waits and their accounts', async () => {
    const stub = new StubServer(() => 300);
    await withStub(stub, async (url) => {
      const target = verbatimTarget(url, ['one', 'two']);
      const load = { target, uploads: [upload], rate: 40, seconds: 0.5, random: seededRandom(5) };
      const result = await openLoop(load);
      expect(result.sent).to.be.within(8, 40);
      expect(result).to.include({ answered: result.sent, refused: 0, failed: 0, rate: 40 });
      expect(result.latency?.p50).to.be.at.least(295);
      expect(result.queue?.p95).to.equal(7.5);
      expect(new Set(stub.seen.map(({ key }) => key))).to.deep.equal(new Set(['Bearer one', 'Bearer two']));
      expect(stub.seen[0]?.body).to.contain('name="language"').and.to.contain('filename="clip.wav"');
    });
  });

  it('tells refusals from failures', async () => {
    const statuses = [200, 503, 429, 500];
    let next = 0;
    const stub = new StubServer(
      () => 1,
      () => statuses[next++ % 4] ?? 200,
    );
    await withStub(stub, async (url) => {
      const target = verbatimTarget(url, ['one']);
      const { sent, answered, refused, failed } = await openLoop({
        ...{ target, uploads: [upload], rate: 100, seconds: 0.4, random: seededRandom(1) },
      });
      expect(answered).to.equal(Math.ceil(sent / 4));
      expect(refused).to.equal(Math.floor((sent + 2) / 4) + Math.floor((sent + 1) / 4));
      expect(failed).to.equal(Math.floor(sent / 4));
    });
  });

  it('takes a lost connection for an outcome, and an error inside a 200 of whisper-server for a failure', async () => {
    const nobody = verbatimTarget('http://127.0.0.1:1', ['one']);
    expect(await nobody.send(upload, 0)).to.include({ status: 0 });
    const stub = new StubServer(
      () => 1,
      () => 200,
      '{"error":"failed to read audio data"}',
    );
    await withStub(stub, async (url) => {
      expect(await whisperServerTarget(url).send(upload, 0)).to.include({ status: 500 });
    });
  });

  it('reads the phases that the server tells of', () => {
    const phases = { upload: 1, queue: 12.5, decode: 3 };
    expect(serverTiming('upload;dur=1.0, queue;dur=12.5, decode;dur=3')).to.deep.equal(phases);
    expect(serverTiming('missed, total;desc="all"')).to.deep.equal({});
    expect(serverTiming(null)).to.deep.equal({});
  });
});

describe('The search for the highest rate', () => {
  const steady = (capacity: number) => (rate: number) =>
    Promise.resolve({
      ...{ rate, sent: 10, answered: 10, refused: 0, failed: 0, queue: null, rtfx: 1 },
      latency: { p50: 1, p95: rate <= capacity ? 100 : 5000, p99: 9000 },
    } satisfies LoadResult);
  const options = { p95BoundMs: 1000, refinements: 6 };

  it('brackets it from below and from above, and closes in', async () => {
    for (const startRate of [0.5, 1, 64]) {
      const { highestRate } = await searchRate({ ...options, startRate, run: steady(13) });
      expect(highestRate).to.be.within(13 * 0.97, 13);
    }
  });

  it('says so when it finds none, and takes a refusal for too much', async () => {
    const none = await searchRate({ ...options, startRate: 1, run: steady(0) });
    expect(none.highestRate).to.equal(null);
    const refusing = await searchRate({
      ...options,
      startRate: 1,
      run: async (rate) => ({ ...(await steady(100)(rate)), refused: rate > 5 ? 1 : 0 }),
    });
    expect(refusing.highestRate).to.be.within(5 * 0.97, 5);
  });
});

describe('Fairness', () => {
  it('compares short clips behind a long file with short clips alone', async () => {
    let longRuns = false;
    const stub = new StubServer(() => (longRuns ? 60 : 20));
    const long = { ...upload, seconds: 600, language: 'auto' };
    await withStub(stub, async (url) => {
      const plain = verbatimTarget(url, ['one', 'two']);
      const target = {
        ...plain,
        send: (...[clip, account, signal]: Parameters<typeof plain.send>) => {
          if (clip !== long) return plain.send(clip, account, signal);
          longRuns = true;
          return new Promise<Outcome>((resolve) => {
            signal?.addEventListener('abort', () => resolve({ status: 0, milliseconds: 0, phases: {} }));
          });
        },
      };
      const fairness = await measureFairness({ target, short: upload, long, count: 5, limitSeconds: 10 });
      expect(fairness.idleMs).to.have.length(5);
      expect(fairness.busyMs).to.have.length(5);
      expect(fairness.medianRatio).to.be.above(1);
    });
  });

  it('counts the clip that waited for the end of the long file, and no clip of after it', async () => {
    const long = { ...upload, seconds: 600, language: 'auto' };
    const outcome: Outcome = { status: 200, milliseconds: 1, phases: {} };
    let waiting: (() => void) | null = null;
    let endsAtOnce = false;
    // One request at a time: the long file's end answers the clip behind it, too.
    const target = {
      ...verbatimTarget('http://127.0.0.1:9', ['one']),
      send: async (clip: typeof long): Promise<Outcome> => {
        if (clip === long) {
          if (!endsAtOnce) await new Promise<void>((resolve) => (waiting = resolve));
          return outcome;
        }
        const behind = waiting !== null;
        waiting?.();
        waiting = null;
        return { ...outcome, milliseconds: behind ? 500 : 1 };
      },
    };
    const options = { target, short: { ...upload }, long, count: 5, limitSeconds: 10 };
    expect((await measureFairness(options)).busyMs).to.deep.equal([500]);
    endsAtOnce = true;
    const failed = await measureFairness(options).catch((error: unknown) => String(error));
    expect(failed).to.contain('done at once');
  });

  it('gives ratios of medians and of percentiles', () => {
    const { medianRatio, p95Ratio } = summarizeFairness([10, 10, 20], [20, 30, 60]);
    expect([medianRatio, p95Ratio]).to.deep.equal([3, 3]);
  });

  it('makes a long file of a sample, and says which files it cannot take', async () => {
    const long = repeatedWav(samplePath('en-wav16.wav'), 60, 'auto');
    expect(long.seconds).to.be.within(60, 63);
    const header = Buffer.from(await long.bytes.slice(0, 44).arrayBuffer());
    expect(header.readUInt32LE(40)).to.equal(long.bytes.size - 44);
    expect(() => repeatedWav(samplePath('de-flac.flac'), 60, 'auto')).to.throw(Error, 'not a PCM WAV file');
  });
});
