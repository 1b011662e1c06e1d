/**
 * The requests under way, and whose window is next (see FairQueue for the order). A window is cut from its file only
 * shortly before its turn: the look-ahead holds few windows over all requests together, so a thousand waiting requests
 * hold no samples. A scheduler runs the windows.
 */
import { IdleSignal } from '../../idle-signal.js';
import { setMaxListeners } from 'node:events';
import type { AudioWindow, DecodeOptions, WindowResult } from '../binding.js';
import { costLeftOf, FairQueue, type Waiting } from '../fair-queue.js';
import type { CutWindow } from './window-reader.js';

/** A stretch of silence counts as a turn, if a cheap one, so that silent files do not keep others from being cut. */
const SILENCE_COST_SECONDS = 1;

/** How far an account may fall behind without losing the claim, when its next window is not yet cut. */
const LONGEST_CLAIM_SECONDS = 30;

/** Transcribes a window. */
export interface WindowRunner {
  transcribe(window: AudioWindow, options: DecodeOptions, signal: AbortSignal): Promise<FinishedWindow>;
}

export interface FinishedWindow {
  result: WindowResult;
  /** The slots' time that it used. */
  workMs: number;
}

/** A request as the queue sees it. Its state may change in cut() and run() only. */
export interface WindowedRequest {
  readonly accountId: string;
  readonly audioLeftSeconds: number;
  /** Whether it takes its turns behind the account's others. */
  readonly background: boolean;
  /** As Waiting.deadline, on the engine's clock. */
  readonly deadline?: number | null;
  /** As Waiting.yields. */
  readonly yields?: boolean;
  /** Whether cut() may yield another window, now or after a window that runs. */
  readonly hasMore: boolean;
  /**
   * Cuts the next window; null when there is none now, 'silence' when there was none in a stretch of the file. Never
   * called again before it has settled.
   */
  cut(): Promise<CutWindow | 'silence' | null>;
  /** False while the window must wait for another one of the request. */
  mayRun(cut: CutWindow): boolean;
  /** Seconds of audio that the device works for this window. */
  costSeconds(cut: CutWindow): number;
  /** Has the window transcribed and keeps its result. */
  run(cut: CutWindow, runner: WindowRunner, signal: AbortSignal): Promise<void>;
}

/** A request with its windows that are ready, and how it ends. */
export class QueuedRequest implements Waiting {
  readonly ready: CutWindow[] = [];
  readonly controller = new AbortController();
  readonly finished: Promise<void>;
  cutting = false;
  running = 0;
  settled = false;
  resolve!: () => void;
  reject!: (reason: unknown) => void;

  constructor(readonly request: WindowedRequest) {
    // One listener for each of its windows that runs.
    setMaxListeners(0, this.controller.signal);
    this.finished = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get accountId(): string {
    return this.request.accountId;
  }

  get costLeft(): number {
    return costLeftOf(this.request.audioLeftSeconds, this.request);
  }

  get deadline(): number | null {
    return this.request.deadline ?? null;
  }

  get yields(): boolean {
    return this.request.yields === true;
  }

  /** Windows held or about to be. */
  get held(): number {
    return this.ready.length + (this.cutting ? 1 : 0);
  }

  get isRunnable(): boolean {
    const head = this.ready[0];
    return head !== undefined && this.request.mayRun(head);
  }

  get isBlocked(): boolean {
    return this.ready.length > 0 && !this.isRunnable;
  }

  get isDone(): boolean {
    return !this.request.hasMore && this.held === 0 && this.running === 0;
  }
}

export interface RequestQueueOptions {
  /** Windows held ready over all requests; twice as many when requests overtake each other. */
  lookAhead: number;
  /** The longest window, the guess at one that is not cut yet. */
  windowSeconds: number;
  /** Begins windows, as long as there is something to run them; asked whenever something has changed. */
  fill: () => void;
}

export class RequestQueue {
  private readonly queue = new FairQueue<QueuedRequest>(LONGEST_CLAIM_SECONDS);
  /** Windows ready or being cut, over all requests. */
  private held = 0;
  /** Windows that run, and those being cut. */
  private inFlight = 0;
  /** Whether other windows may be worth cutting than before. */
  private changed = false;
  private readonly drained = new IdleSignal(() => this.queue.isEmpty && this.inFlight === 0);

  constructor(private readonly options: RequestQueueOptions) {}

  /** Windows that wait; of audio that is not cut yet, as many as it makes at least. */
  get queuedWindows(): number {
    return this.queuedUpTo(Infinity);
  }

  /** The same, but no more than so many, which is found without asking every request. */
  queuedUpTo(most: number): number {
    let sum = 0;
    for (const entry of this.queue.items()) {
      sum += Math.max(entry.held, this.windowsLeft(entry));
      if (sum >= most) return most;
    }
    return sum;
  }

  /**
   * Resolves when every window of the request has run. Rejects with the first error, or with signal.reason at once when
   * aborted; windows that run are then aborted and no other one starts.
   */
  async run(request: WindowedRequest, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const entry = new QueuedRequest(request);
    const onAbort = (): void => this.fail(entry, signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.queue.add(entry);
    this.changed = true;
    this.pump();
    try {
      await entry.finished;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Resolves when no request is left and nothing runs any more. */
  whenDrained(): Promise<void> {
    return this.drained.whenIdle();
  }

  /** To be called when something can run windows again. */
  pump(): void {
    this.options.fill();
    if (this.changed) this.cutAhead();
    this.changed = false;
    this.drained.check();
  }

  /** Whose turn it is among the eligible that have a window ready. */
  next(eligible: (request: QueuedRequest) => boolean = () => true): QueuedRequest | undefined {
    return this.queue.next((entry) => entry.isRunnable && eligible(entry));
  }

  /** Whether the turn of a request has come; without that it goes next only because nobody else can. */
  isDue(entry: QueuedRequest): boolean {
    return this.queue.isDue(entry);
  }

  /** Begins the next window of a request that next() gave: a turn of it. */
  begin(entry: QueuedRequest, runner: WindowRunner): void {
    const cut = entry.ready.shift();
    if (cut === undefined) return;
    this.held--;
    this.changed = true;
    this.queue.charge(entry, entry.request.costSeconds(cut));
    entry.running++;
    void this.native(async () => {
      try {
        await entry.request.run(cut, runner, entry.controller.signal);
      } catch (error) {
        this.fail(entry, error);
      } finally {
        cut.window.release();
        entry.running--;
        this.finishIfDone(entry);
      }
    });
  }

  /**
   * Cuts windows for the turns to come. A request whose turn is near and that has none ready may cut one beyond the
   * look-ahead: windows of requests that were overtaken must not keep it waiting.
   */
  private cutAhead(): void {
    const planned = new Map<QueuedRequest, number>();
    const turnsOf = (entry: QueuedRequest): number => planned.get(entry) ?? 0;
    const wantsTurn = (entry: QueuedRequest): boolean => turnsOf(entry) < this.windowsWanted(entry);
    let turns = 0;
    for (const entry of this.queue.upcoming(wantsTurn, this.options.windowSeconds)) {
      planned.set(entry, turnsOf(entry) + 1);
      const limit = entry.held === 0 ? 2 * this.options.lookAhead : this.options.lookAhead;
      if (entry.held < turnsOf(entry) && this.held < limit) this.cut(entry);
      if (++turns >= this.options.lookAhead) break;
    }
  }

  private windowsWanted(entry: QueuedRequest): number {
    if (!entry.request.hasMore || entry.isBlocked) return entry.held;
    return Math.max(entry.held, this.windowsLeft(entry), 1);
  }

  private windowsLeft(entry: QueuedRequest): number {
    return Math.ceil(entry.request.audioLeftSeconds / this.options.windowSeconds);
  }

  private cut(entry: QueuedRequest): void {
    if (entry.cutting) return;
    entry.cutting = true;
    this.held++;
    void this.native(async () => {
      let cut: CutWindow | 'silence' | null = null;
      try {
        cut = await entry.request.cut();
      } catch (error) {
        this.fail(entry, error);
      }
      entry.cutting = false;
      this.held--;
      if (cut === 'silence') this.passSilence(entry);
      else if (cut !== null) this.keep(entry, cut);
      this.finishIfDone(entry);
    });
  }

  private passSilence(entry: QueuedRequest): void {
    if (!entry.settled) this.queue.charge(entry, SILENCE_COST_SECONDS);
  }

  private keep(entry: QueuedRequest, cut: CutWindow): void {
    if (entry.settled) {
      cut.window.release();
      return;
    }
    entry.ready.push(cut);
    this.held++;
  }

  private async native(work: () => Promise<void>): Promise<void> {
    this.inFlight++;
    await work();
    this.inFlight--;
    this.changed = true;
    this.pump();
  }

  private finishIfDone(entry: QueuedRequest): void {
    if (entry.settled || !entry.isDone) return;
    entry.settled = true;
    this.queue.remove(entry);
    entry.resolve();
  }

  private fail(entry: QueuedRequest, reason: unknown): void {
    if (entry.settled) return;
    entry.settled = true;
    this.queue.remove(entry);
    entry.controller.abort(reason);
    this.held -= entry.ready.length;
    for (const cut of entry.ready.splice(0)) cut.window.release();
    entry.reject(reason);
    this.changed = true;
    this.pump();
  }
}
