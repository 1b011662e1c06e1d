/** What the fakes of one addon share: how long things take, and what is open, runs and ran. */
import type { DecodeOptions } from '../../src/engine/binding.js';
import type { FakeClock } from './fake-clock.js';

export interface FakeSettings {
  /** Milliseconds of slot time per second of audio. */
  msPerSecond: number;
  cutMs: number;
  measureMs: number;
  abortMs: number;
  languages: string[];
  devices: string[];
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
    languages: ['en', 'es', 'de', 'fr'],
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

  constructor(
    readonly clock: FakeClock,
    settings: Partial<FakeSettings> = {},
  ) {
    Object.assign(this.settings, settings);
  }

  heldBytes(): number {
    return this.decodedWindows + this.openSlots.size + this.openModels;
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
