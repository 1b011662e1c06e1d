/** Files, readers and windows without audio. */
import type { AudioReader, AudioWindow, NativeErrorCode, WindowPolicy } from '../../src/engine/binding.js';
import type { FakeTally } from './fake-tally.js';
import { refuseCall } from './native-error.js';

export const FAKE_POLICY: WindowPolicy = {
  maxSeconds: 8,
  cut: 'pause',
  minPauseSeconds: 0.15,
  searchSeconds: 2,
  ownLength: true,
};

export interface FakeWindow {
  startSeconds: number;
  endSeconds: number;
  /** One from start to end when not given. */
  pieces?: AudioWindow['pieces'];
  /** '' for a window in which nothing is recognised. */
  text?: string;
  /** What detection says; en when not given. */
  probabilities?: Record<string, number>;
  /** How sure the model is of the text; -0.05 when not given. */
  averageLogProbability?: number;
  /** The tokens that counts for; 5 when not given. */
  scoredTokens?: number;
  /** Decoded in a batch; those of the settings when not given. */
  tokens?: number;
  /** Of the encoder, in a batch; 1 when not given. */
  passes?: number;
  /** Holds nothing that a batch could decode: done when it is opened. */
  isTooShort?: boolean;
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

/** A file of windows of `seconds` each, one for each of these. */
export function fileOfWindows(seconds: number, specs: Partial<FakeWindow>[]): FakeFile {
  const list = specs.map((spec, index) => ({
    startSeconds: index * seconds,
    endSeconds: (index + 1) * seconds,
    ...spec,
  }));
  return { seconds: specs.length * seconds, windows: list };
}

export class FakeAudioWindow implements AudioWindow {
  released = false;

  constructor(
    private readonly engine: FakeTally,
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

  get pieces(): AudioWindow['pieces'] {
    const { startSeconds, endSeconds, pieces = [{ startSeconds, endSeconds }] } = this.spec;
    return pieces;
  }

  /** All of it. */
  get speech(): AudioWindow['speech'] {
    return this.pieces;
  }

  release(): void {
    if (!this.released) this.engine.count(this.path, -1);
    this.released = true;
  }
}

/** What one call reads with a model of voice activity. */
const BLOCK_SECONDS = 8;

export class FakeReader implements AudioReader {
  readonly info = { container: 'wav', codec: 'pcm_s16', sampleRate: 16000, channels: 1 } as const;
  positionSeconds = 0;
  private readonly windows: FakeWindow[];
  private index = 0;
  private steps = 0;
  busy = false;
  closed = false;
  private decoding = false;
  private readSeconds = 0;

  constructor(
    private readonly engine: FakeTally,
    private readonly path: string,
    private readonly file: FakeFile,
    private readonly recognises: boolean,
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

  async nextWindow(): Promise<AudioWindow | 'silence' | 'reading' | null> {
    await this.call(this.engine.settings.cutMs, () => this.decode(true));
    const spec = this.windows[this.index];
    if (this.recognises) {
      this.readSeconds = Math.min(this.file.seconds, this.readSeconds + BLOCK_SECONDS);
      const wanted = Math.min(spec?.endSeconds ?? this.file.seconds, this.positionSeconds + 60);
      if (this.readSeconds < wanted) return 'reading';
    }
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

function contiguous(seconds: number): FakeWindow[] {
  const windows: FakeWindow[] = [];
  for (let start = 0; start < seconds; start += FAKE_POLICY.maxSeconds) {
    windows.push({ startSeconds: start, endSeconds: Math.min(seconds, start + FAKE_POLICY.maxSeconds) });
  }
  return windows;
}
