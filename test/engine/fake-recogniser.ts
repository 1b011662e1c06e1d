/**
 * A model that decodes many windows at once, in virtual time: an encoder's units and a batch's steps take what the test
 * says.
 */
import type {
  AudioWindow,
  BatchAdvance,
  DecodeOptions,
  DecoderBatch,
  Recogniser,
  SpeechModelInfo,
  WindowEncoder,
  WindowInFlight,
  WindowResult,
  WindowStage,
} from '../../src/engine/binding.js';
import { FakeAudioWindow } from './fake-audio.js';
import { fakeResultOf } from './fake-slot.js';
import type { FakeRun, FakeTally } from './fake-tally.js';
import { nativeError, refuseCall } from './native-error.js';

type Place = 'at rest' | 'in an encoder' | 'in a batch';

export class FakeInFlight implements WindowInFlight {
  place: Place = 'at rest';
  at: WindowStage = 'encode';
  error: Error | null = null;
  aborted = false;
  readonly run: FakeRun;
  private unitsLeft: number;
  private tokensLeft: number;
  private passesLeft: number;
  private released = false;
  private given = false;

  constructor(
    private readonly engine: FakeTally,
    readonly audio: FakeAudioWindow,
    readonly options: DecodeOptions,
  ) {
    const { path, index, spec } = audio;
    this.unitsLeft = engine.settings.encoderUnits;
    if (spec.isTooShort === true) this.at = 'done';
    this.tokensLeft = this.tokens;
    this.passesLeft = spec.passes ?? 1;
    this.run = { path, index, options, slot: 'batch', startMs: NaN, endMs: null, aborted: false };
    engine.windowsInFlight++;
    engine.windowsInFlightPeak = Math.max(engine.windowsInFlightPeak, engine.windowsInFlight);
  }

  private get tokens(): number {
    return this.audio.spec.tokens ?? this.engine.settings.tokens;
  }

  get stage(): WindowStage {
    refuseCall({ closed: this.released });
    return this.place === 'in an encoder' ? 'encode' : this.place === 'in a batch' ? 'decode' : this.at;
  }

  result(): WindowResult {
    if (this.aborted && this.place === 'at rest') throw nativeError('aborted');
    this.requireAtRest('done');
    if (this.given) throw nativeError('invalid_argument', 'The result of this window has been taken.');
    this.given = true;
    if (this.error !== null) throw this.error;
    return fakeResultOf(this.audio, this.options);
  }

  abort(): void {
    refuseCall({ closed: this.released });
    this.aborted = true;
    this.run.aborted = true;
    if (this.place === 'at rest') this.run.endMs = this.engine.clock.now();
  }

  release(): void {
    if (this.released) return;
    this.released = true;
    if (this.place === 'at rest') this.free();
  }

  requireAtRest(stage: WindowStage): void {
    refuseCall({ closed: this.released });
    if (this.place !== 'at rest') throw nativeError('invalid_argument', `This window is ${this.place}.`);
    if (this.at !== stage) throw nativeError('invalid_argument', `This window is not to ${stage}.`);
  }

  enter(place: Place): void {
    this.place = place;
  }

  /** Whoever had it in hand is done with it for now. */
  rest(): void {
    this.place = 'at rest';
    if (this.released) this.free();
  }

  encodeUnit(): void {
    if (this.aborted) this.end();
    else if (--this.unitsLeft === 0) this.at = 'decode';
  }

  /** A token; true when it leaves the batch with it. */
  decodeStep(): boolean {
    if (--this.tokensLeft > 0) return false;
    const { error } = this.audio.spec;
    if (--this.passesLeft > 0) {
      this.at = 'encode';
      this.unitsLeft = this.engine.settings.encoderUnits;
      this.tokensLeft = this.tokens;
    } else this.end(error === undefined ? null : nativeError(error));
    return true;
  }

  end(error: Error | null = null): void {
    if (this.at === 'done') return;
    this.at = 'done';
    this.error = error;
    this.run.endMs = this.engine.clock.now();
  }

  private free(): void {
    this.engine.windowsInFlight--;
  }
}

function inFlight(window: WindowInFlight): FakeInFlight {
  if (window instanceof FakeInFlight) return window;
  throw nativeError('invalid_argument', 'Not a window in flight.');
}

class FakeEncoder implements WindowEncoder {
  busy = false;
  closed = false;

  constructor(
    private readonly engine: FakeTally,
    private readonly threads: number,
  ) {
    engine.openEncoders++;
  }

  async advance(given: WindowInFlight, { threads = this.threads } = {}): Promise<WindowStage> {
    const window = inFlight(given);
    if (!(threads >= 1 && threads <= 256)) throw nativeError('invalid_argument', `threads is ${threads}`);
    refuseCall(this);
    window.requireAtRest('encode');
    window.enter('in an encoder');
    this.busy = true;
    if (Number.isNaN(window.run.startMs)) {
      window.run.startMs = this.engine.clock.now();
      this.engine.runs.push(window.run);
    }
    this.engine.lanesTaken(1);
    this.engine.units.push({
      path: window.audio.path,
      index: window.audio.index,
      atMs: this.engine.clock.now(),
      threads,
    });
    const failure = this.engine.takeFailure('encode');
    await this.engine.clock.sleep(this.engine.settings.unitMs);
    this.engine.lanesTaken(-1);
    this.busy = false;
    if (this.closed) this.engine.openEncoders--;
    if (failure === null) window.encodeUnit();
    else window.end(failure);
    window.rest();
    return window.at;
  }

  /** Freed once no call runs. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.busy) this.engine.openEncoders--;
  }
}

class FakeBatch implements DecoderBatch {
  busy = false;
  closed = false;
  private readonly windows = new Set<FakeInFlight>();

  constructor(private readonly engine: FakeTally) {
    engine.openBatches++;
  }

  get size(): number {
    refuseCall({ closed: this.closed });
    return this.windows.size;
  }

  add(given: WindowInFlight): void {
    const window = inFlight(given);
    refuseCall({ closed: this.closed });
    window.requireAtRest('decode');
    window.enter('in a batch');
    this.windows.add(window);
  }

  async advance({ steps, threads }: { steps: number; threads: number }): Promise<BatchAdvance> {
    refuseCall(this);
    if (!(steps >= 1)) throw nativeError('invalid_argument', `steps is ${steps}`);
    if (!(threads >= 1 && threads <= 256)) throw nativeError('invalid_argument', `threads is ${threads}`);
    this.busy = true;
    this.engine.lanesTaken(1);
    const start = this.engine.clock.now();
    const done: BatchAdvance = { left: [], steps: 0, rows: 0 };
    const failure = this.engine.takeFailure('decode');
    try {
      while (done.steps < steps && done.left.length === 0 && this.windows.size > 0)
        await this.step(done, failure, threads);
    } finally {
      this.engine.calls.push({ atMs: start, steps: done.steps, rows: done.rows, threads });
      this.engine.lanesTaken(-1);
      this.busy = false;
      if (this.closed) this.free();
    }
    return done;
  }

  /** Freed once no call runs. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.busy) this.free();
  }

  private async step(done: BatchAdvance, failure: Error | null, threads: number): Promise<void> {
    for (const window of this.windows) {
      if (!window.aborted) continue;
      window.end();
      this.leave(window, done);
    }
    const rows = [...this.windows];
    if (rows.length === 0) return;
    const { stepMs, rowMs, gainOfThreads } = this.engine.settings;
    await this.engine.clock.sleep((stepMs + rowMs * rows.length) / (threads > 1 ? gainOfThreads : 1));
    done.steps++;
    done.rows += rows.length;
    for (const window of rows) {
      if (failure !== null) window.end(failure);
      if (failure !== null || window.decodeStep()) this.leave(window, done);
    }
  }

  private leave(window: FakeInFlight, done: BatchAdvance): void {
    this.windows.delete(window);
    window.rest();
    done.left.push(window);
  }

  private free(): void {
    this.engine.openBatches--;
    for (const window of this.windows) window.rest();
    this.windows.clear();
  }
}

export class FakeRecogniser implements Recogniser {
  readonly longestWindowSeconds = 30;
  closed = false;

  constructor(
    private readonly engine: FakeTally,
    readonly info: SpeechModelInfo,
  ) {
    engine.openModels++;
  }

  openWindow(window: AudioWindow, options: DecodeOptions): WindowInFlight {
    refuseCall(this);
    if (!(window instanceof FakeAudioWindow)) throw nativeError('invalid_argument', 'Not a window.');
    refuseCall({ closed: window.released });
    if (this.engine.openWindowError !== null) throw this.engine.openWindowError;
    if (!['auto', ...this.engine.settings.languages].includes(options.language))
      throw nativeError('unsupported_language');
    return new FakeInFlight(this.engine, window, options);
  }

  async createEncoder({ threads }: { threads: number }): Promise<WindowEncoder> {
    await Promise.resolve();
    refuseCall(this);
    if (this.engine.createEncoderError !== null) throw this.engine.createEncoderError;
    this.engine.encodersMade++;
    return new FakeEncoder(this.engine, threads);
  }

  async createBatch(): Promise<DecoderBatch> {
    await Promise.resolve();
    refuseCall(this);
    if (this.engine.createBatchError !== null) throw this.engine.createBatchError;
    this.engine.batchesMade++;
    return new FakeBatch(this.engine);
  }

  close(): void {
    if (!this.closed) this.engine.openModels--;
    this.closed = true;
  }
}
