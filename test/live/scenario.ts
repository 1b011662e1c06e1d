/** Live sessions below the protocols: the real audio of the addon and the real ledger, with a fake engine. */
import { expect } from 'chai';
import { loadBinding } from '../../src/engine/binding.js';
import type { VerbatimError } from '../../src/errors.js';
import { InFlightRegistry } from '../../src/http/limits/in-flight.js';
import type { FinalResult, SessionEnd, SessionEvent } from '../../src/live/events.js';
import { DEFAULT_SETTINGS, type LiveSettings } from '../../src/live/options.js';
import { LiveService, type LiveObserver, type LiveReservation } from '../../src/live/service.js';
import type { LiveSession } from '../../src/live/session.js';
import type { FinalMeasurement } from '../../src/live/utterance-decoder.js';
import { fixedEngines } from '../../src/transcription/engine-lease.js';
import type { TextTranslator } from '../../src/transcription/language-support.js';
import { FakeDiarizer } from '../support/fake-diarizer.js';
import { FakeEngine } from '../support/fake-engine.js';
import { pieces } from '../support/live-audio.js';
import { ManualTimers } from '../support/manual-timers.js';
import { TestLedger } from '../support/test-ledger.js';

const FORMAT = { encoding: 's16le', sampleRate: 16_000, channels: 1 } as const;
const PRICES = { creditsPerMinute: 2, translationCreditsPerMinute: 3, diarizationCreditsPerMinute: 5 };
/** Bytes. */
export const SECOND = 32_000;

export class Opened {
  readonly events: SessionEvent[] = [];
  end: SessionEnd | null = null;
  session!: LiveSession;

  get finals(): FinalResult[] {
    return this.events.filter((event) => event.type === 'final');
  }

  get types(): string[] {
    return this.events.map(({ type }) => type).filter((type) => type !== 'progress');
  }

  async send(pcm: Buffer, bytes = 3200): Promise<void> {
    for (const piece of pieces(pcm, bytes)) await this.session.append(piece);
  }

  untilEnded(): Promise<SessionEnd> {
    return this.session.ended;
  }
}

export class LiveScenario {
  readonly testLedger = new TestLedger();
  readonly engine = new FakeEngine();
  readonly timers = new ManualTimers();
  readonly lags: number[] = [];
  readonly measured: FinalMeasurement[] = [];
  /** What is observed beside that. */
  readonly observed: string[] = [];
  /** Seconds. */
  received = 0;
  /** Of sessions that begin from now on. */
  translator: TextTranslator | undefined;
  readonly broken: VerbatimError[] = [];
  readonly diarizer = new FakeDiarizer();
  registry!: InFlightRegistry;
  service!: LiveService;
  accountId = '';
  keyId = '';

  static async start(): Promise<LiveScenario> {
    const scenario = new LiveScenario();
    await scenario.use(100);
    scenario.make({});
    return scenario;
  }

  /** From now on a new account opens sessions. */
  async use(credits: number): Promise<void> {
    Object.assign(this, await this.testLedger.customer(credits));
  }

  make({ maxLiveSessions = 8, maxLiveSeconds = 14_400 }): void {
    const { engine, timers, testLedger } = this;
    this.registry = new InFlightRegistry({ maxPerAccount: 1, retryAfterSeconds: () => 1, timers });
    const binding = loadBinding();
    this.service = new LiveService({
      acquire: (model) => fixedEngines(engine, this.translator)(model),
      ...{ ledger: testLedger.ledger, diarizer: this.diarizer },
      registry: this.registry,
      keeper: { prepare: () => Promise.resolve(null) },
      openAudio: (options) => binding.openLiveAudio(options),
      engineStats: () => engine.stats(),
      ffmpeg: 'ffmpeg',
      settings: { ...PRICES, maxLiveSessions, maxLiveSeconds, maxLiveDecoders: 4 },
      observer: this.#observer(),
      broken: (error) => this.broken.push(error),
      timers,
    });
  }

  #observer(): LiveObserver {
    return {
      finalResult: (measurement) => {
        this.measured.push(measurement);
        this.lags.push(measurement.lagMs);
      },
      partialResult: () => this.observed.push('partial'),
      partialShed: () => this.observed.push('shed'),
      sessionRefused: (endpoint, code) => this.observed.push(`${endpoint} refused: ${code}`),
      sessionEnded: (endpoint, reason) => this.observed.push(`${endpoint} ended: ${reason}`),
      audioReceived: (_endpoint, seconds) => (this.received += seconds),
    };
  }

  reserve(owner: { accountId?: string; keyId?: string } = {}): Promise<LiveReservation> {
    const { accountId, keyId } = this;
    return this.service.reserve({ accountId, keyId, requestId: 'req_live', endpoint: '/v1/realtime', ...owner }, null);
  }

  async open(settings: Partial<LiveSettings> = {}): Promise<Opened> {
    const reservation = await this.reserve();
    const opened = new Opened();
    opened.session = await reservation.start({
      format: FORMAT,
      settings: { ...DEFAULT_SETTINGS, ...settings },
      emit: (event) => opened.events.push(event),
    });
    void opened.session.ended.then((end) => (opened.end = end));
    return opened;
  }

  /** Time passes while the work goes on. */
  async passing<T>(work: () => Promise<T>): Promise<T> {
    const clock = setInterval(() => this.timers.pass(100), 1);
    try {
      return await work();
    } finally {
      clearInterval(clock);
    }
  }

  spent = async (): Promise<number> => (await this.testLedger.usage(this.accountId)).credits;
  minutes = async (): Promise<number> => (await this.testLedger.usage(this.accountId)).minutes;

  async end(): Promise<void> {
    expect(await this.testLedger.ledger.audit()).to.deep.equal([]);
    await this.engine.close();
    await this.testLedger.close();
  }
}
