import { expect } from 'chai';
import { Registry } from 'prom-client';
import { LoadFeed } from '../../../src/http/dashboard/load-feed.js';
import type { LoadTexts } from '../../../src/http/dashboard/load-texts.js';
import type { ServerLoad } from '../../../src/http/dashboard/server-load.js';
import type { EventStream, ServerEvent } from '../../../src/http/app/event-stream.js';
import { LiveMetrics } from '../../../src/http/monitoring/live-metrics.js';
import { InFlightRegistry } from '../../../src/http/limits/in-flight.js';
import { FakeEngine } from '../../support/fake-engine.js';
import { ManualTimers } from '../../support/manual-timers.js';
import { until } from '../../support/until.js';

const nothing = { queuedFiles: 0, queuedSeconds: 0, jobSeconds: 0 };

/** As much of an EventStream as the feed uses. */
class FakeStream {
  readonly sent: ServerEvent[] = [];
  isFull = false;
  isEnded = false;
  leave: () => void = () => undefined;

  send(event: ServerEvent): void {
    this.sent.push(event);
  }

  end(events: readonly ServerEvent[]): void {
    this.sent.push(...events);
    this.isEnded = true;
  }
}

describe('dashboard: the feed of the load', () => {
  let timers: ManualTimers;
  let inFlight: InFlightRegistry;
  let feed: LoadFeed;
  let reads: number;
  let engine: FakeEngine;
  let live: LiveMetrics;

  beforeEach(() => {
    timers = new ManualTimers();
    reads = 0;
    inFlight = new InFlightRegistry({ maxPerAccount: 9, retryAfterSeconds: () => 1, timers });
    const find = (id: string): Promise<{ email: string }> => {
      reads += 1;
      return Promise.resolve({ email: id === 'a' ? 'ann@example.com' : 'ben@example.com' });
    };
    engine = new FakeEngine();
    live = new LiveMetrics(new Registry());
    feed = new LoadFeed({
      engine: { info: engine.info, stats: () => ({ ...engine.stats(), ...engine.backlog.stats() }) },
      inFlight,
      ledger: { administration: { find } } as never,
      live: { stats: () => ({ sessions: 3, most: 21, waitingBytes: 0 }) } as never,
      metrics: { refusals: 5, live } as never,
      timers,
      clock: () => 0,
    });
  });

  function join(): FakeStream {
    const stream = new FakeStream();
    const isIn = feed.join(stream as unknown as EventStream, (call) => (stream.leave = call));
    if (!isIn) throw new Error('too many');
    return stream;
  }

  /** A second goes by, and its sample reaches those who look. */
  async function second(...seen: FakeStream[]): Promise<void> {
    const before = seen.map(({ sent }) => sent.length);
    timers.pass(1000);
    await until(() => seen.every(({ sent }, index) => sent.length > (before[index] ?? 0)));
  }

  const loadOf = ({ sent }: FakeStream): ServerLoad => sent.at(-1)?.data as ServerLoad;

  it('sends all viewers one sample a second, and measures for nobody', async () => {
    expect(timers.pending).to.equal(0);
    const [one, two] = [join(), join()];
    inFlight.begin({ accountId: 'a', keyId: 'k', requestId: 'req' });
    inFlight.begin({ accountId: 'b', keyId: 'l', requestId: 'req' });
    inFlight.begin({ accountId: 'b', keyId: 'l', requestId: 'req' });
    await second(one, two);
    expect(loadOf(one)).to.include({ requestsInFlight: 3, refusals: 5, busyAccounts: 2 });
    expect(loadOf(one).accounts).to.deep.equal([
      { email: 'ben@example.com', requests: 2, ...nothing },
      { email: 'ann@example.com', requests: 1, ...nothing },
    ]);
    expect(two.sent).to.deep.equal(one.sent);
    await second(one);
    expect(reads, 'names are read once each').to.equal(2);
    one.leave();
    two.leave();
    expect(timers.pending).to.equal(0);
  });

  it('reports the queue by account, the longest first, beside what is in flight', async () => {
    engine.backlogSeconds = 90;
    inFlight.begin({ accountId: 'a', keyId: 'k', requestId: 'req' });
    const viewer = join();
    await second(viewer);
    expect(loadOf(viewer).accounts).to.deep.equal([
      { email: 'ben@example.com', requests: 0, queuedFiles: 1, queuedSeconds: 90, jobSeconds: 0 },
      { email: 'ann@example.com', requests: 1, ...nothing },
    ]);
    expect((loadOf(viewer) as ServerLoad & LoadTexts).rows).to.deep.equal([
      ['ben@example.com', '0', '1', '90', '0'],
      ['ann@example.com', '1', '0', '0', '0'],
    ]);
  });

  it('reports live sessions: as many as there are and may be, the delay of their texts, and the refused', async () => {
    const viewer = join();
    await second(viewer);
    const figures = (): Record<string, string> => (loadOf(viewer) as ServerLoad & LoadTexts).figures;
    expect(figures()).to.include({ liveSessions: '3 / 21', liveLagMs: 'not measured yet', liveRefusals: '0' });
    // The oldest ones count no more.
    const lags = [...Array<number>(500).fill(9000), ...Array.from({ length: 200 }, (_, index) => index + 1)];
    for (const lagMs of lags) live.finalResult({ lagMs, seconds: 1, workMs: 1 });
    live.finalResult({ lagMs: 5000, seconds: 0, workMs: 1 });
    live.sessionRefused('/v1/listen', 'overloaded');
    await second(viewer);
    expect(figures()).to.include({ liveLagMs: '100 / 190 ms', liveRefusals: '1' });
  });

  it('keeps nothing for a viewer that takes nothing', async () => {
    const [slow, quick] = [join(), join()];
    slow.isFull = true;
    for (let at = 0; at < 5; at++) await second(quick);
    expect(slow.sent).to.deep.equal([]);
    slow.isFull = false;
    await second(slow);
    expect(slow.sent).to.have.length(1);
  });

  it('lets each look for half a minute, and then ask again', async () => {
    const viewer = join();
    for (let at = 0; at < 30; at++) await second(viewer);
    expect(viewer.isEnded).to.equal(true);
    expect(viewer.sent.at(-1)?.event).to.equal('again');
    expect(viewer.sent).to.have.length(31);
    expect(timers.pending).to.equal(0);
  });

  it('ends when the server drains, and has a most of viewers', async () => {
    const viewers = Array.from({ length: 20 }, join);
    expect(() => join()).to.throw('too many');
    void inFlight.drain(1);
    await second(...viewers);
    expect(viewers.every(({ isEnded }) => isEnded)).to.equal(true);
    expect(() => Array.from({ length: 20 }, join)).not.to.throw();
  });
});
