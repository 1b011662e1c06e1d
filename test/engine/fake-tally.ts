/** What the fakes of one addon share: how long things take, and what is open, runs and ran. */
import type { DecodeOptions, SpeechAbilities } from '../../src/engine/binding.js';
import type { FakeClock } from './fake-clock.js';

export interface FakeSettings {
  /** Milliseconds of slot time per second of audio. */
  msPerSecond: number;
  cutMs: number;
  measureMs: number;
  abortMs: number;
  /** Of a window that is decoded in a batch. */
  encoderUnits: number;
  tokens: number;
  /** Of a unit of an encoder; of a step of a batch, and of each of its rows. */
  unitMs: number;
  stepMs: number;
  rowMs: number;
  /** How many times as fast a step is on several threads. */
  gainOfThreads: number;
  languages: string[];
  abilities: SpeechAbilities;
  devices: string[];
}

/** A unit of an encoder's work. */
export interface FakeUnit {
  path: string;
  index: number;
  atMs: number;
  threads: number;
}

/** A call of a batch. */
export interface FakeCall {
  atMs: number;
  steps: number;
  rows: number;
  threads: number;
}

/** A window that ran or runs. */
export interface FakeRun {
  path: string;
  index: number;
  options: DecodeOptions;
  slot: string;
  startMs: number;
  endMs: number | null;
  aborted: boolean;
}

export class FakeTally {
  readonly settings: FakeSettings = {
    msPerSecond: 100,
    cutMs: 1,
    measureMs: 1,
    abortMs: 2,
    encoderUnits: 6,
    tokens: 40,
    unitMs: 50,
    stepMs: 1.3,
    rowMs: 0.8,
    gainOfThreads: 1,
    languages: ['en', 'es', 'de', 'fr'],
    abilities: {
      ...{ detectsLanguage: true, translates: true, takesPrompt: true, takesTemperature: true },
      ...{ takesPrefix: true, timesWords: false },
    },
    devices: ['cpu'],
  };
  readonly runs: FakeRun[] = [];
  readonly openSlots = new Set<string>();
  openReaders = 0;
  /** A reader has one while it is measured or read, and none between. */
  openDecoders = 0;
  openDecodersPeak = 0;
  /** Steps of measuring, by path, in their order. */
  readonly measureSteps: string[] = [];
  openModels = 0;
  /** Windows cut and not released. */
  decodedWindows = 0;
  decodedWindowsPeak = 0;
  decodedWindowsByPath = new Map<string, number>();
  audioCalls = 0;
  audioCallsPeak = 0;
  busySlots = 0;
  busySlotsPeak = 0;
  readonly units: FakeUnit[] = [];
  readonly calls: FakeCall[] = [];
  openEncoders = 0;
  openBatches = 0;
  encodersMade = 0;
  batchesMade = 0;
  createEncoderError: Error | null = null;
  createBatchError: Error | null = null;
  openWindowError: Error | null = null;
  /** Windows in flight that are not released. */
  windowsInFlight = 0;
  windowsInFlightPeak = 0;
  private readonly failures = new Map<'encode' | 'decode', Error>();

  constructor(
    readonly clock: FakeClock,
    settings: Partial<FakeSettings> = {},
  ) {
    Object.assign(this.settings, settings);
  }

  heldBytes(): number {
    const { openEncoders, openBatches, windowsInFlight } = this;
    const batched = openEncoders + openBatches + windowsInFlight;
    return this.decodedWindows + this.openSlots.size + this.openModels + batched;
  }

  /** The next unit of an encoder, or call of a batch, fails with this. */
  failNext(unit: 'encode' | 'decode', error: Error): void {
    this.failures.set(unit, error);
  }

  takeFailure(unit: 'encode' | 'decode'): Error | null {
    const failure = this.failures.get(unit) ?? null;
    this.failures.delete(unit);
    return failure;
  }

  /** A unit of work on a lane begins or ends; counted as slots are. */
  lanesTaken(change: 1 | -1): void {
    this.busySlots += change;
    this.busySlotsPeak = Math.max(this.busySlotsPeak, this.busySlots);
  }

  runsOf(path: string): FakeRun[] {
    return this.runs.filter((run) => run.path === path);
  }

  async audioCall(milliseconds: number): Promise<void> {
    this.audioCallsPeak = Math.max(this.audioCallsPeak, ++this.audioCalls);
    await this.clock.sleep(milliseconds);
    this.audioCalls--;
  }

  count(path: string, change: 1 | -1): void {
    this.decodedWindows += change;
    this.decodedWindowsPeak = Math.max(this.decodedWindowsPeak, this.decodedWindows);
    this.decodedWindowsByPath.set(path, (this.decodedWindowsByPath.get(path) ?? 0) + change);
  }
}
