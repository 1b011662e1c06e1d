/**
 * The engine's process. It runs the same engines as a server without such a process, and answers calls over a channel.
 */
import { systemTimers, type Timer, type Timers } from '../../timers.js';
import { processChannel, serveCalls, type Channel, type Handlers, type SelfReport } from '../process/serve-calls.js';
import type { TranslationEngine } from '../translation/translation-engine.js';
import type { TranslationObserver } from '../translation/translation-scheduler.js';
import type { LocalSpeechEngine } from '../speech/transcriber.js';
import type { EngineInfo, EngineLoad, EngineObserver, Transcript, WindowUpdate } from '../types.js';
import type { EngineCalls, EngineNotice, EngineReport, Measurement, TranscriptEnd } from './engine-calls.js';
import { NativeWatch } from './native-watch.js';
import { PendingUpdate } from './pending-update.js';
import { samplesFromText } from './sample-text.js';

export interface LoadedEngines {
  speech: Pick<LocalSpeechEngine, 'convert' | 'measure' | 'transcribe' | 'recognise' | 'stats' | 'limitLanes'>;
  translation: Pick<TranslationEngine, 'translate' | 'unloadIdle'>;
  info: EngineInfo;
}

/** What the engines are created with. */
export interface EngineTools {
  observer: EngineObserver & TranslationObserver;
  watch: NativeWatch;
}

/** The shortest time between two load reports while there is work. */
const REPORT_MS = 100;
/** The most measurements that are kept for the next report. Further ones are dropped. */
const MOST_MEASUREMENTS = 10_000;

/** `load` creates the engines from the settings that the other side sends. */
export function serveEngine(
  load: (settings: unknown, tools: EngineTools) => Promise<LoadedEngines>,
  channel: Channel = processChannel(),
  timers: Timers = systemTimers,
): void {
  serveCalls<EngineCalls>(async (settings, self, report) => {
    const watch = new NativeWatch();
    const reporter = new Reporter(report, timers);
    const engines = await load(settings, { observer: reporter, watch });
    reporter.begin(() => engines.speech.stats());
    Object.assign(self, {
      info: engines.info,
      overdue: () => watch.tick(),
      notice: (notice) => void heed(engines, notice as EngineNotice, reporter),
      beforeCall: () => reporter.callBegins(),
      beforeAnswer: () => reporter.callEnds(),
    } satisfies SelfReport);
    return handlersOf(engines);
  }, channel);
}

async function heed(
  { speech, translation }: LoadedEngines,
  { lanes, unloadsText, turn }: EngineNotice,
  reporter: Reporter,
): Promise<void> {
  if (unloadsText) await translation.unloadIdle();
  await speech.limitLanes(lanes ?? Infinity);
  reporter.heeded(turn);
}

function handlersOf({ speech, translation }: LoadedEngines): Handlers<EngineCalls> {
  return {
    convert: (file, { signal }) => speech.convert({ ...file, signal }),
    measure: (file, { signal }) => speech.measure({ ...file, signal }),
    transcribe: async ({ resumeFrom, ...file }, { signal, progress }) => {
      const pending = new PendingUpdate((update) => void progress(update));
      const asked = { ...file, signal, resumeFrom: new Map(resumeFrom) };
      const transcript = await speech.transcribe(asked, (update) => pending.add(update));
      return endOf(transcript, pending.take());
    },
    recognise: ({ samples, ...utterance }, { signal }) =>
      speech.recognise({ ...utterance, samples: samplesFromText(samples), signal }),
    translate: ({ reportsParts, ...text }, { signal, progress }) =>
      translation.translate({
        ...{ ...text, signal },
        ...(reportsParts ? { translated: (part) => void progress(part) } : {}),
      }),
  };
}

function endOf(transcript: Transcript, update: WindowUpdate | null): TranscriptEnd {
  const { durationSeconds, language, languageProbability, windows, unsureWindows, timings } = transcript;
  const end = { durationSeconds, language, languageProbability, windows, unsureWindows, timings };
  if (update === null) return { ...end, last: null };
  const { seconds, language: decided, part } = update;
  return { ...end, last: { seconds, language: decided, part } };
}

/** Reports the load and the measurements. */
class Reporter implements EngineObserver, TranslationObserver {
  #measurements: Measurement[] = [];
  #loadNow: (() => EngineLoad) | null = null;
  #last = '';
  #calls = 0;
  /** Runs while there is work, including aborted calls, and until the load no longer changes. */
  #timer: Timer | null = null;

  constructor(
    private readonly report: (value: EngineReport) => Promise<void>,
    private readonly timers: Timers,
  ) {}

  begin(loadNow: () => EngineLoad): void {
    this.#loadNow = loadNow;
    this.#send();
  }

  /** Sent at once, because others wait for the lanes. */
  heeded(turn: EngineNotice['turn']): void {
    if (this.#loadNow === null) return;
    void this.report({ load: this.#loadNow(), measurements: this.#measurements.splice(0), heeded: turn });
  }

  callBegins(): void {
    this.#calls += 1;
    this.#timer ??= this.timers.every(REPORT_MS, () => this.#look());
  }

  /** Called before a call's answer is sent, so that the report goes out together with it. */
  callEnds(): void {
    this.#calls -= 1;
    if (this.#send()) this.#timer?.restart();
  }

  #look(): void {
    if (this.#send() || this.#calls > 0 || this.#isBusy()) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #isBusy(): boolean {
    const { busySlots = 0, windowsInFlight = 0, queuedWindows = 0 } = this.#loadNow?.() ?? {};
    return busySlots + windowsInFlight + queuedWindows > 0;
  }

  /** Returns false if nothing has changed. */
  #send(): boolean {
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
