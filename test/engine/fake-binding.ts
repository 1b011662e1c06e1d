/** The addon without audio or model, in virtual time: every native call takes as long as the test says. */
import type {
  AudioReader,
  AudioWindow,
  DecodeOptions,
  NativeBinding,
  NativeErrorCode,
  Slot,
  SpeechModel,
  TranslationModel,
  WindowPolicy,
  WindowResult,
} from '../../src/engine/binding.js';
import type { Clock } from '../../src/engine/clock.js';

export const FAKE_POLICY: WindowPolicy = {
  maxSeconds: 8,
  cut: 'pause',
  minPauseSeconds: 0.15,
  searchSeconds: 2,
  ownLength: true,
};

export class FakeClock implements Clock {
  private time = 0;
  private events: { at: number; fire: () => void }[] = [];

  now(): number {
    return this.time;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  after(milliseconds: number, fire: () => void): void {
    const at = this.time + milliseconds;
    const later = this.events.findIndex((event) => event.at > at);
    this.events.splice(later < 0 ? this.events.length : later, 0, { at, fire });
  }

  /** Lets everything happen that happens until then; without an end, until nothing is left to happen. */
  async run(untilMs = Infinity): Promise<void> {
    await settled();
    while (this.events[0] !== undefined && this.events[0].at <= untilMs) {
      const event = this.events.shift()!;
      this.time = event.at;
      event.fire();
      await settled();
    }
    if (untilMs !== Infinity) this.time = untilMs;
  }
}

/** All microtasks have run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

export interface FakeWindow {
  startSeconds: number;
  endSeconds: number;
  /** '' for a window in which nothing is heard. */
  text?: string;
  /** What detection says; en when not given. */
  probabilities?: Record<string, number>;
  /** How sure the model is of the text; -0.05 when not given. */
  averageLogProbability?: number;
  /** The tokens that counts for; 5 when not given. */
  scoredTokens?: number;
  /** Fails with this error. */
  error?: NativeErrorCode;
}

export interface FakeFile {
  seconds: number;
  windows?: FakeWindow[];
  openError?: NativeErrorCode;
  /** Over all channels. */
  samplesPerSecond?: number;
  measureSteps?: number;
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

export function nativeError(code: NativeErrorCode, message: string = code): Error {
  return Object.assign(new Error(message), { code });
}

/** As the addon refuses a call on a handle that is closed or has a call running. */
export function refuseCall({ closed, busy }: { closed: boolean; busy?: boolean }): void {
  if (closed) throw nativeError('invalid_argument', 'This handle has been closed or released.');
  if (busy === true) throw nativeError('invalid_argument', 'Calls must not overlap.');
}

export interface FakeSettings {
  /** Milliseconds of slot time per second of audio. */
  msPerSecond: number;
  cutMs: number;
  measureMs: number;
  abortMs: number;
  languages: string[];
  devices: string[];
}

export class FakeBinding implements NativeBinding {
  readonly build = { whisper: 'fake', cuda: true, translationBackends: [], compiler: 'fake' };
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
  createSlotError: Error | null = null;
  slotsMade = 0;
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
  private readonly files = new Map<string, FakeFile>();

  constructor(
    readonly clock: FakeClock,
    settings: Partial<FakeSettings> = {},
  ) {
    Object.assign(this.settings, settings);
  }

  addFile(path: string, file: FakeFile): string {
    this.files.set(path, file);
    return path;
  }

  devices(): { id: string; name: string; memoryBytes: number }[] {
    return this.settings.devices.map((id) => ({ id, name: `Fake ${id}`, memoryBytes: 1 }));
  }

  heldBytes(): number {
    return this.decodedWindows + this.openSlots.size + this.openModels;
  }

  runsOf(path: string): FakeRun[] {
    return this.runs.filter((run) => run.path === path);
  }

  async openAudio(path: string): Promise<AudioReader> {
    const file = this.files.get(path);
    if (file === undefined) throw nativeError('io_error');
    if (file.openError !== undefined) throw nativeError(file.openError, 'not what it should be');
    await this.audioCall(this.settings.measureMs);
    this.openReaders++;
    return new FakeReader(this, path, file);
  }

  async loadSpeechModel(_path: string, { device }: { device: string }): Promise<SpeechModel> {
    await Promise.resolve();
    if (!this.settings.devices.includes(device)) throw nativeError('device_unavailable');
    this.openModels++;
    let closed = false;
    return {
      info: {
        type: 'custom',
        weightType: 'q5_1',
        multilingual: true,
        languages: this.settings.languages,
        device,
        deviceName: `Fake ${device}`,
        memoryBytes: 1,
        accelerator: '',
      },
      createSlot: async () => {
        await Promise.resolve();
        refuseCall({ closed });
        if (this.createSlotError !== null) throw this.createSlotError;
        return new FakeSlot(this, `${device}/${++this.slotsMade}`);
      },
      close: () => {
        if (!closed) this.openModels--;
        closed = true;
      },
    };
  }

  loadTranslationModel(): Promise<TranslationModel> {
    return Promise.reject(nativeError('invalid_model'));
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

class FakeAudioWindow implements AudioWindow {
  released = false;

  constructor(
    private readonly engine: FakeBinding,
    readonly path: string,
    readonly index: number,
    readonly spec: FakeWindow,
  ) {
    engine.count(path, 1);
  }

  get startSeconds(): number {
    return this.spec.startSeconds;
  }

  get endSeconds(): number {
    return this.spec.endSeconds;
  }

  release(): void {
    if (!this.released) this.engine.count(this.path, -1);
    this.released = true;
  }
}

class FakeReader implements AudioReader {
  readonly info = { container: 'wav', codec: 'pcm_s16', sampleRate: 16000, channels: 1 } as const;
  positionSeconds = 0;
  private readonly windows: FakeWindow[];
  private index = 0;
  private steps = 0;
  busy = false;
  closed = false;
  private decoding = false;

  constructor(
    private readonly engine: FakeBinding,
    private readonly path: string,
    private readonly file: FakeFile,
  ) {
    this.windows = file.windows ?? contiguous(file.seconds);
    this.decode(true);
  }

  async measure(): Promise<number | null> {
    await this.call(this.engine.settings.measureMs, () => this.engine.measureSteps.push(this.path));
    if (++this.steps < (this.file.measureSteps ?? 1)) return null;
    this.decode(false);
    return this.file.seconds;
  }

  async nextWindow(): Promise<AudioWindow | 'silence' | null> {
    await this.call(this.engine.settings.cutMs, () => this.decode(true));
    const spec = this.windows[this.index];
    if ((spec?.startSeconds ?? this.file.seconds) - this.positionSeconds > 60) {
      this.positionSeconds += 60;
      return 'silence';
    }
    this.positionSeconds = spec?.endSeconds ?? this.file.seconds;
    return spec === undefined ? null : new FakeAudioWindow(this.engine, this.path, this.index++, spec);
  }

  get measuredSeconds(): number {
    return Math.min(1, this.steps / (this.file.measureSteps ?? 1)) * this.file.seconds;
  }

  get measuredSamples(): number {
    return this.measuredSeconds * (this.file.samplesPerSecond ?? 16_000);
  }

  /** What it holds is freed once no call runs. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.busy) this.free();
  }

  private free(): void {
    this.engine.openReaders--;
    this.decode(false);
  }

  private decode(decoding: boolean): void {
    if (decoding !== this.decoding) this.engine.openDecoders += decoding ? 1 : -1;
    this.engine.openDecodersPeak = Math.max(this.engine.openDecodersPeak, this.engine.openDecoders);
    this.decoding = decoding;
  }

  private async call(milliseconds: number, begun: () => void): Promise<void> {
    refuseCall(this);
    this.busy = true;
    begun();
    await this.engine.audioCall(milliseconds);
    this.busy = false;
    if (this.closed) this.free();
  }
}

class FakeSlot implements Slot {
  busy = false;
  closed = false;

  constructor(
    private readonly engine: FakeBinding,
    private readonly name: string,
  ) {
    engine.openSlots.add(name);
  }

  async transcribe(
    window: AudioWindow,
    options: DecodeOptions,
    call: { signal?: AbortSignal } = {},
  ): Promise<WindowResult> {
    if (!(window instanceof FakeAudioWindow)) throw nativeError('invalid_argument', 'Not a window.');
    refuseCall({ closed: window.released });
    if (call.signal?.aborted === true) throw nativeError('aborted');
    refuseCall(this);
    const { spec, path, index } = window;
    const run: FakeRun = {
      path,
      index,
      options,
      slot: this.name,
      startMs: this.engine.clock.now(),
      endMs: null,
      aborted: false,
    };
    this.engine.runs.push(run);
    this.busy = true;
    this.engine.busySlotsPeak = Math.max(this.engine.busySlotsPeak, ++this.engine.busySlots);
    try {
      if (!['auto', ...this.engine.settings.languages].includes(options.language)) {
        throw nativeError('unsupported_language');
      }
      await this.work(spec, run, call.signal);
      return resultOf(window, options);
    } finally {
      run.endMs = this.engine.clock.now();
      this.busy = false;
      this.engine.busySlots--;
      if (this.closed) this.engine.openSlots.delete(this.name);
    }
  }

  /** Freed once no call runs. */
  close(): void {
    this.closed = true;
    if (!this.busy) this.engine.openSlots.delete(this.name);
  }

  private work(spec: FakeWindow, run: FakeRun, signal: AbortSignal | undefined): Promise<void> {
    const { clock, settings } = this.engine;
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        run.aborted = true;
        clock.after(settings.abortMs, () => reject(nativeError('aborted')));
      };
      signal?.addEventListener('abort', aborted, { once: true });
      clock.after((spec.endSeconds - spec.startSeconds) * settings.msPerSecond, () => {
        signal?.removeEventListener('abort', aborted);
        if (spec.error === undefined) resolve();
        else reject(nativeError(spec.error));
      });
    });
  }
}

function contiguous(seconds: number): FakeWindow[] {
  const windows: FakeWindow[] = [];
  for (let start = 0; start < seconds; start += FAKE_POLICY.maxSeconds) {
    windows.push({ startSeconds: start, endSeconds: Math.min(seconds, start + FAKE_POLICY.maxSeconds) });
  }
  return windows;
}

function resultOf(window: FakeAudioWindow, options: DecodeOptions): WindowResult {
  const probabilities = window.spec.probabilities ?? { en: 0.97, es: 0.01, de: 0.01, fr: 0.01 };
  const detected = Object.entries(probabilities).sort((one, other) => other[1] - one[1])[0]![0];
  const language = options.language === 'auto' ? detected : options.language;
  const text = window.spec.text ?? `${language}${window.index}`;
  const { startSeconds, endSeconds } = window;
  const { averageLogProbability = -0.05, scoredTokens = 5 } = window.spec;
  return {
    segments: [{ startSeconds, endSeconds, text: ` ${text}`, noSpeechProbability: 0 }],
    language,
    languageProbabilities: options.language === 'auto' ? probabilities : null,
    averageLogProbability: text === '' ? null : averageLogProbability,
    scoredTokens: text === '' ? 0 : scoredTokens,
    timings: {
      melMs: 1,
      encodeMs: 2,
      decodeMs: 3,
      totalMs: 6,
      tokens: 5,
      fallbacks: 0,
      encoderPasses: 1,
    },
  };
}
