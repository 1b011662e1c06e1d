/** The engine's process: the same engines as without one, asked over a channel. */
import {
  processChannel,
  serveCalls,
  type CallContext,
  type Channel,
  type Handlers,
  type SelfReport,
} from '../process/serve-calls.js';
import type { WindowResult } from '../binding.js';
import type { TranslationEngine } from '../translation/translation-engine.js';
import type { TranslationObserver } from '../translation/translation-scheduler.js';
import type { EngineObserver, HeardPart, SpeechEngine, Transcript } from '../types.js';
import {
  ENGINE_FORM,
  type CountedSeconds,
  type EngineCalls,
  type EngineHealth,
  type EngineInfo,
  type EngineLoad,
  type EngineReport,
  type FileRequest,
  type Measurement,
  type TranscriptEnd,
  type TranscriptionNews,
  type TranscriptionAsked,
  type TextCall,
  type WindowNews,
} from './engine-calls.js';
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import { CountTeller } from './count-teller.js';
import { NativeWatch } from './native-watch.js';
import { WindowTeller } from './window-teller.js';

export interface LoadedEngines {
  speech: Pick<SpeechEngine, 'convertFile' | 'measureFile' | 'transcribeFile' | 'stats'>;
  translation: Pick<TranslationEngine, 'translate'>;
  info: EngineInfo;
}

/** What the engines are made with. */
export interface EngineTools {
  observer: EngineObserver & TranslationObserver;
  watch: NativeWatch;
}

/** Load figures are told so often at most, while anything is worked on. */
const REPORT_MS = 100;
/** Measurements that are kept for the next report: more are dropped, as counts nobody can read. */
const MOST_MEASUREMENTS = 10_000;

/** `load` makes the engines of the settings that the other end sends; it bounds no backlog, which is the other end's. */
export function serveEngine(
  load: (settings: unknown, tools: EngineTools) => Promise<LoadedEngines>,
  channel: Channel = processChannel(ENGINE_FORM),
  timers: Timers = systemTimers,
): void {
  serveCalls<EngineCalls>(async (settings, self, report) => {
    const watch = new NativeWatch();
    const reporter = new Reporter(report, timers);
    const engines = await load(settings, { observer: reporter, watch });
    reporter.begin(() => loadOf(engines.speech));
    Object.assign(self, {
      info: engines.info,
      health: (): EngineHealth => ({ overdue: watch.tick() }),
      beforeCall: () => reporter.callBegins(),
      beforeAnswer: () => reporter.callEnds(),
    } satisfies SelfReport);
    return handlersOf(engines);
  }, channel);
}

function handlersOf({ speech, translation }: LoadedEngines): Handlers<EngineCalls> {
  return {
    convert: ({ to, ...file }, context) =>
      speech.convertFile({ ...asked(file, context, countTeller(context)), to }),
    measure: async (file, context) => {
      const counted = countTeller(context);
      const seconds = await speech.measureFile(asked(file, context, counted));
      counted.end();
      return seconds;
    },
    transcribe: async (request, context) => {
      const news = new WindowTeller((told) => void context.progress({ kind: 'window', ...told }));
      const transcript = await speech.transcribeFile(fileOf(request, context, news));
      return endOf(transcript, news.take());
    },
    translate: ({ tells, ...text }, { signal, progress }) => translate({ tells, ...text }, signal, progress),
  };

  function translate(
    { tells, ...text }: TextCall,
    signal: AbortSignal,
    progress: CallContext<EngineCalls['translate']['progress']>['progress'],
  ): Promise<EngineCalls['translate']['answer']> {
    return translation.translate({
      ...{ ...text, signal },
      ...(tells ? { translated: (part) => void progress(part) } : {}),
    });
  }
}

function countTeller({ progress }: CallContext<CountedSeconds>): CountTeller {
  return new CountTeller((seconds) => void progress({ kind: 'counted', seconds }));
}

function asked(
  { maxSeconds, counts, ...file }: FileRequest,
  { signal }: Pick<CallContext<CountedSeconds>, 'signal'>,
  counted: CountTeller,
) {
  return {
    ...{ ...file, signal },
    ...(maxSeconds === undefined ? {} : { maxSeconds }),
    ...(counts ? { covers: (seconds: number) => counted.count(seconds) } : {}),
  };
}

function fileOf(request: TranscriptionAsked, context: CallContext<TranscriptionNews>, news: WindowTeller) {
  const { durationSeconds, known, maxSeconds, counts, ...file } = request;
  const { path, accountId } = file;
  const { progress, proceeds } = context;
  const counted = countTeller(context);
  return {
    ...file,
    ...asked({ path, accountId, maxSeconds, counts }, context, counted),
    ...(durationSeconds === null ? {} : { after: { durationSeconds } }),
    measured: async (seconds: number) => {
      counted.end();
      if (durationSeconds !== null) return;
      await progress({ kind: 'measured', seconds });
      await proceeds();
    },
    known: new Map(known),
    finished: (index: number, result: WindowResult) => news.add({ finished: { index, result } }),
    transcribed: (transcribedSeconds: number) => news.add({ transcribedSeconds }),
    heard: (heard: HeardPart) => news.add({ heard }),
  };
}

function endOf(transcript: Transcript, news: WindowNews | null): TranscriptEnd {
  const { durationSeconds, language, languageProbability, unsureWindows, timings } = transcript;
  const last = news === null ? null : { ...news };
  // What came of a window is for a repeat, which there is none of.
  delete last?.finished;
  return { durationSeconds, language, languageProbability, unsureWindows, timings, last };
}

function loadOf(speech: Pick<SpeechEngine, 'stats'>): EngineLoad {
  const { slots, busySlots, windowsInFlight, queuedWindows, realTimeFactor } = speech.stats();
  return { slots, busySlots, windowsInFlight, queuedWindows, realTimeFactor };
}

/** Tells how much there is to do, and what was measured. */
class Reporter implements EngineObserver, TranslationObserver {
  #measurements: Measurement[] = [];
  #loadNow: (() => EngineLoad) | null = null;
  #last = '';
  #calls = 0;
  /** Runs while there is work, that of calls that were aborted too, and on until nothing more has come of it. */
  #timer: Timer | null = null;

  constructor(
    private readonly report: (value: EngineReport) => Promise<void>,
    private readonly timers: Timers,
  ) {}

  begin(loadNow: () => EngineLoad): void {
    this.#loadNow = loadNow;
    this.#tell();
  }

  callBegins(): void {
    this.#calls += 1;
    this.#timer ??= this.timers.every(REPORT_MS, () => this.#look());
  }

  /** Before its answer is sent, with which this goes. */
  callEnds(): void {
    this.#calls -= 1;
    if (this.#tell()) this.#timer?.restart();
  }

  #look(): void {
    if (this.#tell() || this.#calls > 0 || this.#isBusy()) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #isBusy(): boolean {
    const { busySlots = 0, windowsInFlight = 0, queuedWindows = 0 } = this.#loadNow?.() ?? {};
    return busySlots + windowsInFlight + queuedWindows > 0;
  }

  /** False where nothing has changed. */
  #tell(): boolean {
    if (this.#loadNow === null) return false;
    const load = this.#loadNow();
    const now = JSON.stringify(load);
    if (now === this.#last && this.#measurements.length === 0) return false;
    this.#last = now;
    void this.report({ load, measurements: this.#measurements.splice(0) });
    return true;
  }

  windowDone(measured: Parameters<EngineObserver['windowDone']>[0]): void {
    this.#keep({ kind: 'window', measured });
  }

  batchAdvanced(measured: Parameters<NonNullable<EngineObserver['batchAdvanced']>>[0]): void {
    this.#keep({ kind: 'batch', measured });
  }

  batchDone(measured: Parameters<TranslationObserver['batchDone']>[0]): void {
    this.#keep({ kind: 'translation', measured });
  }

  #keep(measurement: Measurement): void {
    if (this.#measurements.length < MOST_MEASUREMENTS) this.#measurements.push(measurement);
  }
}
