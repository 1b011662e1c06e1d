import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ErrorCode } from '../../errors.js';
import type { EndReason, LiveObserver } from '../../live/service.js';
import type { FinalMeasurement } from '../../live/utterance-decoder.js';
import { RecentValues } from './recent-values.js';

const LAG_BUCKETS = [0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.25, 0.5, 1, 2, 4, 8];

export interface LiveStats {
  sessions: number;
  /** That the machine carries at their deadlines. */
  most: number;
  waitingBytes: number;
}

/** The metrics of live sessions. */
export class LiveMetrics implements LiveObserver {
  readonly #finalLag: Histogram;
  readonly #partialLag: Histogram;
  readonly #shed: Counter;
  readonly #refused: Counter;
  readonly #audio: Counter;
  readonly #ended: Counter;
  /** Milliseconds. */
  readonly #lags = new RecentValues();
  #refusals = 0;

  constructor(private readonly registry: Registry) {
    this.#finalLag = this.#lag('final', 'Time from the end of an utterance to its final text');
    this.#partialLag = this.#lag('partial', 'Time from the audio of a text that may change to that text');
    const [endpoint, reason] = ['endpoint', 'reason'];
    this.#shed = this.#counter('partials_shed', 'Times that texts that may change were left out for lack of speed');
    this.#refused = this.#counter('sessions_refused', 'Live sessions that were not admitted', [endpoint, reason]);
    this.#audio = this.#counter('audio_seconds', 'Seconds of live audio that were worked on', [endpoint]);
    this.#ended = this.#counter('sessions_ended', 'Live sessions that ended', [endpoint, reason]);
  }

  /** Values that are read at each request for /metrics. */
  observe(stats: () => LiveStats): void {
    this.#gauge('sessions', 'Live sessions', () => stats().sessions);
    this.#gauge('sessions_limit', 'Live sessions that the machine carries at the pace of speech', () => stats().most);
    this.#gauge('waiting_bytes', 'Bytes of live audio that wait for work', () => stats().waitingBytes);
  }

  /** Sessions that were not admitted so far. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Of the last final results, milliseconds; null: there was none. */
  finalLagMs(quantile: number): number | null {
    return this.#lags.quantile(quantile);
  }

  finalResult({ seconds, lagMs }: FinalMeasurement): void {
    // Nobody waits for it.
    if (seconds === 0) return;
    this.#finalLag.observe(lagMs / 1000);
    this.#lags.add(lagMs);
  }

  partialResult({ lagMs }: { lagMs: number }): void {
    this.#partialLag.observe(lagMs / 1000);
  }

  partialShed(): void {
    this.#shed.inc();
  }

  sessionRefused(endpoint: string, reason: ErrorCode): void {
    this.#refusals += 1;
    this.#refused.inc({ endpoint, reason });
  }

  audioReceived(endpoint: string, seconds: number): void {
    this.#audio.inc({ endpoint }, seconds);
  }

  sessionEnded(endpoint: string, reason: EndReason): void {
    this.#ended.inc({ endpoint, reason });
  }

  #lag(kind: string, help: string): Histogram {
    const name = `verbatim_live_${kind}_lag_seconds`;
    return new Histogram({ name, help, buckets: LAG_BUCKETS, registers: [this.registry] });
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name: `verbatim_live_${name}_total`, help, labelNames, registers: [this.registry] });
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      ...{ name: `verbatim_live_${name}`, help, registers: [this.registry] },
      collect() {
        this.set(read());
      },
    });
  }
}
