import { expect } from 'chai';
import { measureFairness, repeatedWav, summarizeFairness, type Fairness } from '../../bench/load/fairness.js';
import {
  serverTiming,
  verbatimTarget,
  whisperServerTarget,
  type Outcome,
  type Upload,
} from '../../bench/load/http-target.js';
import { openLoop, type LoadResult } from '../../bench/load/open-loop.js';
import { poissonArrivals, seededRandom } from '../../bench/load/random.js';
import { searchRate } from '../../bench/load/rate-search.js';
import type { Clock } from '../../src/engine/clock.js';
import type { FakeClock } from '../engine/fake-clock.js';
import { samplePath } from '../native/support.js';
import { StubServer, withStub } from './stub-server.js';
import { TimedTarget } from './timed-target.js';

const upload: Upload = { name: 'clip.wav', bytes: new Blob(['abc']), seconds: 3, language: 'en' };

describe('Open-loop load', () => {
  const load = { uploads: [upload], rate: 40, seconds: 0.5 };

  it('does not wait for answers, and counts them, their waits and their accounts', async () => {
    const target = new TimedTarget(() => 300);
    const result = await target.run((clock) => openLoop({ ...load, target, clock, random: seededRandom(5) }));
    const due = poissonArrivals(seededRandom(5), load.rate, load.seconds);
    expect(target.sent.map(({ at }) => at)).to.deep.equal(due.map((time) => 1000 * time));
    expect(target.mostInFlight).to.be.above(3);
    const sent = due.length;
    expect(result).to.include({ rate: 40, sent, answered: sent, refused: 0, failed: 0 });
    for (const latency of Object.values(result.latency ?? {})) expect(latency).to.be.closeTo(300, 1e-9);
    expect(result.latency).to.have.keys('p50', 'p95', 'p99');
    expect(result.queue?.p95).to.equal(7.5);
    expect(result.rtfx).to.be.closeTo((sent * upload.seconds) / (due.at(-1)! + 0.3), 1e-9);
    expect(new Set(target.sent.map(({ account }) => account))).to.deep.equal(new Set([0, 1]));
  });

  it('counts the wait from when a request was due, however late the client sends it', async () => {
    const target = new TimedTarget(() => 300);
    const late = (clock: FakeClock): Clock => ({
      now: () => clock.now(),
      sleep: (milliseconds) => clock.sleep(milliseconds + 50),
    });
    const result = await target.run((clock) =>
      openLoop({ ...load, target, clock: late(clock), random: seededRandom(5) }),
    );
    expect(result.latency?.p50).to.be.closeTo(350, 1e-9);
  });

  it('distinguishes refusals from failures', async () => {
    const statuses = [200, 503, 429, 500];
    let next = 0;
    const target = new TimedTarget(
      () => 1,
      () => statuses[next++ % 4]!,
    );
    const { sent, answered, refused, failed } = await target.run((clock) =>
      openLoop({ ...load, target, clock, rate: 100, random: seededRandom(1) }),
    );
    expect(sent).to.be.above(8);
    expect(answered).to.equal(Math.ceil(sent / 4));
    expect(refused).to.equal(Math.floor((sent + 2) / 4) + Math.floor((sent + 1) / 4));
    expect(failed).to.equal(Math.floor(sent / 4));
  });

  it('sends Verbatim the clip, its language and the key of the account', async () => {
    const stub = new StubServer();
    await withStub(stub, async (url) => {
      const target = verbatimTarget(url, ['one', 'two']);
      for (const account of [0, 1]) {
        const outcome = await target.send(upload, account);
        expect(outcome).to.deep.include({ status: 200, phases: { upload: 1, queue: 7.5 } });
      }
      expect(stub.seen.map(({ key }) => key)).to.deep.equal(['Bearer one', 'Bearer two']);
      expect(stub.seen[0]?.body).to.contain('name="language"').and.to.contain('filename="clip.wav"');
    });
  });

  it('takes a lost connection for an outcome, and an error inside a 200 of whisper-server for a failure', async () => {
    const nobody = verbatimTarget('http://127.0.0.1:1', ['one']);
    expect(await nobody.send(upload, 0)).to.include({ status: 0 });
    const stub = new StubServer(() => 200, '{"error":"failed to read audio data"}');
    await withStub(stub, async (url) => {
      expect(await whisperServerTarget(url).send(upload, 0)).to.include({ status: 500 });
    });
  });

  it('reads the phases that the server reports', () => {
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

  it('takes a step in which nothing was sent for neither', async () => {
    const empty: Partial<LoadResult> = { sent: 0, answered: 0, latency: null };
    const sparse = (most: number) => async (rate: number) => ({
      ...(await steady(most)(rate)),
      ...(rate < 1 ? empty : {}),
    });
    const found = await searchRate({ ...options, startRate: 0.25, run: sparse(13) });
    expect(found.highestRate).to.be.within(13 * 0.97, 13);
    const none = await searchRate({ ...options, startRate: 4, run: sparse(0) });
    expect(none.highestRate).to.equal(null);
    expect(none.steps.map(({ rate }) => rate)).to.deep.equal([4, 2, 1, 0.5]);
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
  const long = { ...upload, seconds: 600, language: 'auto' };
  const clips = { short: upload, long, count: 5, limitSeconds: 10 };
  /** The long file never ends; while it runs, a short clip takes three times as long. */
  const besideLong = (): TimedTarget => {
    const target: TimedTarget = new TimedTarget((clip) => {
      if (clip === long) return Infinity;
      return target.sent.some(({ upload: sent }) => sent === long) ? 60 : 20;
    });
    return target;
  };

  it('compares short clips behind a long file with short clips alone', async () => {
    const target = besideLong();
    const fairness = await target.run((clock) => measureFairness({ ...clips, target, clock }));
    expect(fairness.idleMs).to.deep.equal([20, 20, 20, 20, 20]);
    expect(fairness.busyMs).to.deep.equal([60, 60, 60, 60, 60]);
    expect(fairness).to.include({ medianRatio: 3, p95Ratio: 3 });
    const sent = target.sent.find((one) => one.upload === long);
    expect(sent?.account).to.equal(1);
    expect(sent?.signal?.aborted, 'hung up on').to.equal(true);
    expect(target.inFlight).to.equal(0);
  });

  it('takes no more clips than there is time for, and one at least', async () => {
    const few = besideLong();
    const limited = await few.run((clock) => measureFairness({ ...clips, target: few, clock, limitSeconds: 0.05 }));
    expect(limited.idleMs).to.have.length(3);
    expect(limited.busyMs).to.have.length(1);
  });

  it('counts the clip that waited for the end of the long file, and no clip of after it', async () => {
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
    const measure = (): Promise<Fairness> =>
      new TimedTarget(() => 0).run((clock) => measureFairness({ ...clips, target, clock }));
    expect((await measure()).busyMs).to.deep.equal([500]);
    endsAtOnce = true;
    const failed = await measure().catch((error: unknown) => String(error));
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
