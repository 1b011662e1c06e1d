/** Prometheus metrics. Labels are route templates, methods and statuses: never a user, a key or a raw path. */
import { LiveMetrics, type LiveStats } from './live-metrics.js';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { DiarizationObserver } from '../../engine/speakers/fair-diarizer.js';
import type { TranslationObserver } from '../../engine/translation/translation-scheduler.js';
import type { EngineObserver, EngineStats } from '../../engine/types.js';
import type { ModelsInMemory } from '../../models/model-store.js';

const QUEUE_BUCKETS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const INFERENCE_BUCKETS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32];
const BATCH_BUCKETS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128];
const SHELL_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const REQUEST_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 15, 60, 300, 1800];

export interface MetricsSources {
  version: string;
  /** Now. */
  served: () => { model: string; devices: { ids: readonly string[]; name: string } };
  engineStats: () => EngineStats;
  models: () => ModelsInMemory;
  diarizationStats: () => { waiting: number; running: number };
  requestsInFlight: () => number;
  liveSessions: () => LiveStats;
  openJobs: () => Promise<{ queued: number; running: number }>;
  pendingWebhooks: () => Promise<number>;
}

export type EndedStatus = 'succeeded' | 'failed' | 'cancelled';

export interface RequestMeasurement {
  method: string;
  route: string;
  status: number;
  seconds: number;
}

interface RequestSeries {
  count: Counter.Internal;
  seconds: Histogram.Internal<'route'>;
}

export class Metrics implements EngineObserver, TranslationObserver, DiarizationObserver {
  readonly #registry = new Registry();
  readonly #series = new Map<string, RequestSeries>();
  readonly #requests = this.#counter('http_requests_total', 'HTTP requests answered', ['method', 'route', 'status']);
  readonly #requestSeconds = this.#histogram('http_request_seconds', 'Time to answer', REQUEST_BUCKETS, ['route']);
  readonly #queueWait = this.#histogram(
    'queue_wait_seconds',
    'Time that a window waits before it starts',
    QUEUE_BUCKETS,
  );
  readonly #inference = this.#histogram(
    'inference_seconds',
    'Time of a window from its start to its text',
    INFERENCE_BUCKETS,
  );
  readonly #audio = this.#counter('audio_seconds_total', 'Seconds of audio transcribed');
  readonly #encode = this.#counter('encode_seconds_total', 'Encoder time, summed over slots');
  readonly #decode = this.#counter('decode_seconds_total', 'Decoder time, summed over slots');
  readonly #tokens = this.#counter('tokens_total', 'Tokens generated, fall-back passes included');
  readonly #fallbacks = this.#counter('fallbacks_total', 'Temperature fall-backs');
  readonly #batchRows = this.#histogram(
    'batch_rows',
    'Rows per step of the decoder batch, on average over a call',
    BATCH_BUCKETS,
  );
  readonly #batchSteps = this.#counter('batch_steps_total', 'Steps of the decoder batch');
  readonly #sentences = this.#counter('translation_sentences_total', 'Sentences translated');
  readonly #translationTokens = this.#counter(
    'translation_tokens_total',
    'Tokens read and written by translation models',
    ['direction'],
  );
  readonly #translation = this.#histogram(
    'translation_batch_seconds',
    'Time of a batch of sentences in a translator',
    INFERENCE_BUCKETS,
  );
  readonly #diarizedAudio = this.#counter(
    'diarized_audio_seconds_total',
    'Seconds of audio whose speakers were identified',
  );
  readonly #diarizationWait = this.#histogram(
    'diarization_wait_seconds',
    'Time that a file waits for the speaker models',
    QUEUE_BUCKETS,
  );
  readonly #diarization = this.#histogram(
    'diarization_seconds',
    'Time of a file in the process of the speaker models',
    REQUEST_BUCKETS,
  );
  readonly #speakerDeaths = this.#counter(
    'speaker_process_deaths_total',
    'Processes of the speaker models that died or were killed',
  );
  readonly #engineRestarts = this.#counter(
    'engine_restarts_total',
    'Processes of the engine that died or were killed, and were restarted',
    ['reason'],
  );
  readonly #modelLoads = this.#counter('model_loads_total', 'Models that were loaded for requests that name them', [
    'model',
  ]);
  readonly #modelUnloads = this.#counter('model_unloads_total', 'Models that were unloaded', ['model', 'reason']);
  readonly #modelLoad = this.#histogram(
    'model_load_seconds',
    'Time from the decision to load a model until it was loaded',
    REQUEST_BUCKETS,
  );
  readonly live = new LiveMetrics(this.#registry);
  readonly #endedJobs = this.#counter('jobs_ended_total', 'Jobs that ended on this server', ['status']);
  readonly #webhookAttempts = this.#counter('webhook_attempts_total', 'Attempts to send a webhook', ['outcome']);
  readonly #connections = new Gauge({
    name: 'verbatim_connections',
    help: 'Open connections of clients',
    registers: [this.#registry],
  });
  readonly #refusedConnections = this.#counter(
    'connections_refused_total',
    'Connections refused because of the limit of their address',
  );
  readonly #cutAnswers = this.#counter('answers_cut_total', 'Answers that their client stopped reading');
  readonly #shell = this.#histogram(
    'shell_answer_seconds',
    'Time of a free request that the server sends to itself once a second: as long as a refusal takes',
    SHELL_BUCKETS,
  );
  #observing = false;
  #refusals = 0;
  #windows = 0;

  /** Values that are read at each request for /metrics. Called once, when engine and registry of requests exist. */
  observe(sources: MetricsSources): void {
    if (this.#observing) return;
    this.#observing = true;
    collectDefaultMetrics({ register: this.#registry });
    this.#info(sources);
    const stats = sources.engineStats;
    this.#gauge('queue_windows', 'Windows that have not started', () => stats().queuedWindows);
    this.#gauge('backlog_seconds', 'Admitted audio not yet transcribed', () => stats().backlogSeconds);
    this.#gauge('backlog_limit_seconds', 'Backlog above which requests are refused', () => {
      return stats().maxBacklogSeconds;
    });
    this.#gauge('slots', 'Windows, or units of work on them, that can run at once', () => stats().slots);
    this.#gauge('slots_busy', 'Busy slots', () => stats().busySlots);
    this.#gauge('windows_in_flight', 'Windows started and not finished', () => stats().windowsInFlight);
    this.#gauge('real_time_factor', 'Processing time / audio time of the whole machine', () => {
      return stats().realTimeFactor;
    });
    this.#models(sources);
    const speakers = sources.diarizationStats;
    this.#gauge('diarizations_waiting', 'Files that wait for the speaker models', () => speakers().waiting);
    this.#gauge('diarizations_running', 'Files that are being diarized', () => speakers().running);
    this.#gauge('requests_in_flight', 'Transcriptions being received or worked on', sources.requestsInFlight);
    this.live.observe(sources.liveSessions);
    this.#later(sources);
  }

  jobEnded(status: EndedStatus): void {
    this.#endedJobs.inc({ status });
  }

  webhookAttempted(outcome: 'delivered' | 'failed'): void {
    this.#webhookAttempts.inc({ outcome });
  }

  /** Requests that were answered 429 or 503 so far. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Windows that were transcribed so far. */
  get windows(): number {
    return this.#windows;
  }

  requestDone({ method, route, status, seconds }: RequestMeasurement): void {
    if (status === 429 || status === 503) this.#refusals += 1;
    const name = `${method} ${route} ${status}`;
    let series = this.#series.get(name);
    if (series === undefined) {
      series = {
        count: this.#requests.labels({ method, route, status: String(status) }),
        seconds: this.#requestSeconds.labels({ route }),
      };
      this.#series.set(name, series);
    }
    series.count.inc();
    series.seconds.observe(seconds);
  }

  connectionOpened(): void {
    this.#connections.inc();
  }

  connectionClosed(): void {
    this.#connections.dec();
  }

  connectionRefused(): void {
    this.#refusedConnections.inc();
  }

  answerCut(): void {
    this.#cutAnswers.inc();
  }

  shellAnswered(seconds: number): void {
    this.#shell.observe(seconds);
  }

  windowDone(window: Parameters<EngineObserver['windowDone']>[0]): void {
    this.#windows += 1;
    this.#queueWait.observe(window.queueMs / 1000);
    this.#inference.observe(window.inferenceMs / 1000);
    this.#audio.inc(window.audioSeconds);
    this.#encode.inc(window.encodeMs / 1000);
    this.#decode.inc(window.decodeMs / 1000);
    this.#tokens.inc(window.tokens);
    this.#fallbacks.inc(window.fallbacks);
  }

  batchAdvanced({ steps, rows }: { steps: number; rows: number }): void {
    if (steps === 0) return;
    this.#batchRows.observe(rows / steps);
    this.#batchSteps.inc(steps);
  }

  batchDone({ sentences, tokensIn, tokensOut, ms }: Parameters<TranslationObserver['batchDone']>[0]): void {
    this.#sentences.inc(sentences);
    this.#translationTokens.inc({ direction: 'in' }, tokensIn);
    this.#translationTokens.inc({ direction: 'out' }, tokensOut);
    this.#translation.observe(ms / 1000);
  }

  diarizationDone({ audioSeconds, waitMs, runMs }: Parameters<DiarizationObserver['diarizationDone']>[0]): void {
    this.#diarizedAudio.inc(audioSeconds);
    this.#diarizationWait.observe(waitMs / 1000);
    this.#diarization.observe(runMs / 1000);
  }

  /** `reason`: a signal's name, or one of a few words. */
  engineDied(reason: string): void {
    this.#engineRestarts.inc({ reason });
  }

  modelLoaded(model: string, milliseconds: number): void {
    this.#modelLoads.inc({ model });
    this.#modelLoad.observe(milliseconds / 1000);
  }

  modelUnloaded(model: string, reason: string): void {
    this.#modelUnloads.inc({ model, reason });
  }

  speakersDied(): void {
    this.#speakerDeaths.inc();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #info({ version, served }: MetricsSources): void {
    const labelNames = ['version', 'node', 'model', 'device', 'device_name'];
    const registers = [this.#registry];
    new Gauge({
      ...{ name: 'verbatim_build_info', help: 'Always 1', labelNames, registers },
      collect() {
        const { model, devices } = served();
        const device = { device: devices.ids.join(','), device_name: devices.name };
        this.reset();
        this.set({ version, node: process.version, model, ...device }, 1);
      },
    });
  }

  #models({ models }: MetricsSources): void {
    const registers = [this.#registry];
    new Gauge({
      ...{ name: 'verbatim_model_loaded', help: '1 for each speech model in memory', labelNames: ['model'], registers },
      collect() {
        this.reset();
        for (const model of models().loaded) this.set({ model }, 1);
      },
    });
    this.#gauge('model_memory_bytes', 'Memory of the processes with models', () => models().usedBytes);
    this.#gauge('model_memory_limit_bytes', 'Memory that models may take', () => models().limitBytes);
  }

  /** Of all servers of the database. One that cannot be read keeps nobody from the other metrics. */
  #later({ openJobs, pendingWebhooks }: MetricsSources): void {
    const registers = [this.#registry];
    new Gauge({
      ...{ name: 'verbatim_jobs_open', help: 'Jobs that have not ended', labelNames: ['status'], registers },
      async collect() {
        const { queued, running } = await openJobs().catch(() => ({ queued: NaN, running: NaN }));
        this.set({ status: 'queued' }, queued);
        this.set({ status: 'running' }, running);
      },
    });
    new Gauge({
      ...{
        name: 'verbatim_webhooks_waiting',
        help: 'Webhooks that are due, or will be retried',
        registers,
      },
      async collect() {
        this.set(await pendingWebhooks().catch(() => NaN));
      },
    });
  }

  #counter<T extends string>(name: string, help: string, labelNames: T[] = []): Counter<T> {
    return new Counter({ name: `verbatim_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<T extends string>(name: string, help: string, buckets: number[], labelNames: T[] = []) {
    const registers = [this.#registry];
    return new Histogram<T>({ name: `verbatim_${name}`, help, buckets, labelNames, registers });
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `verbatim_${name}`,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }
}
