/** The load of the server, sent once a second to all viewers; while there are none, nothing is measured. */
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import type { AccountBacklog } from '../../engine/backlog.js';
import type { Timer } from '../../timers.js';
import type { HttpDeps } from '../app/deps.js';
import type { EventStream, ServerEvent } from '../app/event-stream.js';
import { textsOf } from './load-texts.js';
import type { AccountLoad, LiveSessionsLoad, ServerLoad } from './server-load.js';

const PERIOD_MS = 1000;
/** After so many a viewer asks again, and its session is checked again. */
const SAMPLES_A_VIEW = 30;
const MOST_VIEWERS = 20;
const MOST_ACCOUNTS = 20;
const LOOP_RESOLUTION_MS = 10;

type Sources = Pick<HttpDeps, 'engine' | 'inFlight' | 'ledger' | 'live' | 'metrics' | 'timers' | 'clock'>;

interface Viewer {
  stream: EventStream;
  left: number;
}

export class LoadFeed {
  readonly #viewers = new Set<Viewer>();
  readonly #emails = new Map<string, string>();
  #timer: Timer | null = null;
  #loop: IntervalHistogram | null = null;
  #isMeasuring = false;

  constructor(private readonly sources: Sources) {}

  /** `closed` calls when the viewer has left. false: there are too many. */
  join(stream: EventStream, closed: (call: () => void) => void): boolean {
    if (this.#viewers.size >= MOST_VIEWERS) return false;
    const viewer = { stream, left: SAMPLES_A_VIEW };
    this.#viewers.add(viewer);
    closed(() => this.#leave(viewer));
    this.#start();
    return true;
  }

  async sample(): Promise<ServerLoad> {
    const { engine, inFlight, metrics, clock } = this.sources;
    const { backlogByAccount, ...stats } = engine.stats();
    const { countByAccount } = inFlight;
    return {
      ...stats,
      realTimeFactor: metrics.windows > 0 ? stats.realTimeFactor : null,
      at: new Date(clock()).toISOString(),
      requestsInFlight: inFlight.size,
      refusals: metrics.refusals,
      live: this.#live(),
      memoryBytes: process.memoryUsage.rss(),
      eventLoopMs: this.#eventLoopMs(),
      accounts: await this.#named(loadsOf(countByAccount, backlogByAccount).slice(0, MOST_ACCOUNTS)),
      busyAccounts: countByAccount.size,
    };
  }

  #live(): LiveSessionsLoad {
    const { engine, live, metrics } = this.sources;
    const { sessions, most } = live.stats(engine.info.modelName);
    const [median, p95] = [metrics.live.finalLagMs(0.5), metrics.live.finalLagMs(0.95)];
    const lagMs = median === null || p95 === null ? null : { median, p95 };
    return { sessions, most, refused: metrics.live.refusals, lagMs };
  }

  #start(): void {
    if (this.#timer !== null) return;
    this.#loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
    this.#loop.enable();
    this.#timer = this.sources.timers.every(PERIOD_MS, () => void this.#send());
  }

  #leave(viewer: Viewer): void {
    if (!this.#viewers.delete(viewer) || this.#viewers.size > 0) return;
    this.#timer?.cancel();
    this.#loop?.disable();
    this.#emails.clear();
    [this.#timer, this.#loop] = [null, null];
  }

  /** A viewer that reads nothing misses samples: none is kept for it. */
  async #send(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    try {
      const load = await this.sample();
      const event = { event: 'load', data: { ...load, ...textsOf(load) } };
      for (const viewer of this.#viewers) this.#sendTo(viewer, event);
    } catch {
      // The ledger cannot be read now; the next second tries again.
    } finally {
      this.#isMeasuring = false;
    }
  }

  #sendTo(viewer: Viewer, event: ServerEvent): void {
    const { stream } = viewer;
    viewer.left -= 1;
    if (viewer.left <= 0 || this.sources.inFlight.draining) {
      this.#leave(viewer);
      stream.end([event, { event: 'again', data: {} }]);
    } else if (!stream.isFull) stream.send(event, () => undefined);
  }

  /** Of what there is since it was asked last. */
  #eventLoopMs(): number | null {
    if (this.#loop === null || this.#loop.count === 0) return null;
    const late = this.#loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS;
    this.#loop.reset();
    return Math.max(0, Math.round(late * 10) / 10);
  }

  async #named(loads: readonly UnnamedLoad[]): Promise<AccountLoad[]> {
    const named = [];
    for (const { accountId, ...load } of loads) named.push({ email: await this.#emailOf(accountId), ...load });
    return named;
  }

  async #emailOf(id: string): Promise<string> {
    const known = this.#emails.get(id);
    if (known !== undefined) return known;
    const email = (await this.sources.ledger.administration.find(id))?.email ?? id;
    this.#emails.set(id, email);
    return email;
  }
}

type UnnamedLoad = Omit<AccountLoad, 'email'> & { accountId: string };

function loadsOf(inFlight: ReadonlyMap<string, number>, backlog: readonly AccountBacklog[]): UnnamedLoad[] {
  const loads = new Map<string, UnnamedLoad>();
  const nothing = { requests: 0, queuedFiles: 0, queuedSeconds: 0, jobSeconds: 0 };
  for (const { accountId, requests, seconds, backgroundSeconds } of backlog) {
    const queued = { queuedFiles: requests, queuedSeconds: seconds, jobSeconds: backgroundSeconds };
    loads.set(accountId, { accountId, ...nothing, ...queued });
  }
  for (const [accountId, requests] of inFlight) {
    loads.set(accountId, { ...nothing, ...loads.get(accountId), accountId, requests });
  }
  const weight = ({ queuedSeconds, jobSeconds }: UnnamedLoad): number => queuedSeconds + jobSeconds;
  return [...loads.values()].sort((a, b) => weight(b) - weight(a) || b.requests - a.requests);
}
