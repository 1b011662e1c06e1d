import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { LiveObserver } from '../../live/service.js';
import type { FinalMeasurement } from '../../live/utterance-decoder.js';

const LAG_BUCKETS = [0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.25, 0.5, 1, 2, 4, 8];

export interface LiveStats {
  sessions: number;
  /** That the machine carries at their deadlines. */
  most: number;
  refused: number;
  waitingBytes: number;
}

/** The metrics of live sessions. */
export class LiveMetrics implements LiveObserver {
  readonly #lag: Histogram;
  readonly #partials: Counter;

  constructor(private readonly registry: Registry) {
    const registers = [registry];
    this.#lag = new Histogram({
      name: 'verbatim_live_final_lag_seconds',
      help: 'Time from the end of an utterance to its final text',
      buckets: LAG_BUCKETS,
      registers,
    });
    this.#partials = new Counter({
      name: 'verbatim_live_partial_results_total',
      help: 'Results of utterances that were still going on',
      registers,
    });
  }

  /** Values that are read at each request for /metrics. */
  observe(stats: () => LiveStats): void {
    this.#gauge('sessions', 'Live sessions', () => stats().sessions);
    this.#gauge('sessions_limit', 'Live sessions that the machine carries at the pace of speech', () => stats().most);
    this.#gauge('sessions_refused', 'Live sessions refused for lack of speed, since the start', () => stats().refused);
    this.#gauge('waiting_bytes', 'Bytes of live audio that wait for work', () => stats().waitingBytes);
  }

  finalResult({ lagMs }: FinalMeasurement): void {
    this.#lag.observe(lagMs / 1000);
  }

  partialResult(): void {
    this.#partials.inc();
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
