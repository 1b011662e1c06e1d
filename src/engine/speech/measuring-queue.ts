/**
 * Finds out how long files are, before anybody has paid for them. Accounts take turns (see FairQueue). A turn is one
 * step, and costs the time that it took. So an account with a hundred long files takes no more than its share from an
 * account with a short clip.
 *
 * A decoder can take megabytes, so few files stay open. Every file is opened for its first turn, which is enough for
 * most. A file that is not done then needs one of the few places to stay open, of its account and in all. Without one
 * it is closed, and opened again when a place is free. So a short clip never waits for a place, at most one step of a
 * long file is done twice, and at most `atOnce + open` decoders exist.
 *
 * A file that needs a program (ffmpeg) takes more than one step, however short it is. It has a grace period: for its
 * first steps it stays open without a place. Few files have one at a time, so none waits long for its own.
 *
 * A program that turns out costly demotes its account for a while. Programs of demoted accounts have no grace period.
 * All demoted accounts share one call at a time and half of the places; the rest stays free for others.
 */
import type { Clock } from '../clock.js';
import { FairQueue, type Waiting } from '../fair-queue.js';
import { failRequest } from '../native-errors.js';
import type { AudioWorkers } from './audio-workers.js';
import { Demotions } from './demotions.js';

export interface MeasuringLimits {
  /** Native calls at once. */
  atOnce: number;
  /** Files that stay open between their turns. */
  open: number;
  openPerAccount: number;
  /** Files in their grace period, one of an account. */
  inGrace: number;
  /** Of `atOnce` and of `open`, what programs of demoted accounts may have. */
  demotedAtOnce: number;
  demotedOpen: number;
  /**
   * While paid work runs, a step of a demoted program is followed by a pause of all of them, so many times as long.
   * Even at the lowest priority a program takes caches and memory, and half of a core that it shares with another
   * thread.
   */
  demotedPause: number;
}

/** An AudioReader, or what does more than to read. */
export interface Measurable {
  /** One step; resolves to the duration in seconds once it is known, to null while there is more to do. */
  measure(): Promise<number | null>;
  /** Of a file with a grace period. */
  readonly isGraceOver?: boolean;
  /** Whether it has used far more work than its audio so far accounts for; default: no. */
  readonly isCostly?: boolean;
  /** Resolves when nothing is left of it. */
  close(): void | Promise<void>;
}

export interface MeasurableFile<R extends Measurable> {
  accountId: string;
  signal?: AbortSignal | undefined;
  /** Whether it starts a program; default: no. */
  hasGracePeriod?: boolean;
  open(isDemoted: boolean): Promise<R>;
  /** Called after every step. An error that it throws ends the measuring. */
  check(reader: R): void;
}

export interface MeasuredFile<R extends Measurable> {
  /** At the start of the file; the caller closes it. */
  reader: R;
  durationSeconds: number;
  /** Milliseconds of work. */
  spentMs: number;
}

/** How far an account may fall behind without losing the claim: a few steps. */
const LONGEST_CLAIM_MS = 100;

/** The queue's view of a file. */
interface Turns extends Waiting {
  readonly begun: boolean;
  busy: boolean;
  readonly settled: boolean;
  readonly spentMs: number;
  readonly hasGracePeriod: boolean;
  readonly isGraceOver: boolean;
  readonly isCostly: boolean;
  /** One turn; resolves to the duration once it is known. */
  step(isDemoted: boolean): Promise<number | null>;
  /** Throws when the file is not to be measured on. */
  check(): void;
  close(): Promise<void>;
  succeed(durationSeconds: number): void;
  fail(reason: unknown): void;
}

class Measuring<R extends Measurable> implements Turns {
  readonly finished: Promise<MeasuredFile<R>>;
  begun = false;
  busy = false;
  settled = false;
  spentMs = 0;
  private reader: R | null = null;
  private resolve!: (file: MeasuredFile<R>) => void;
  private reject!: (reason: unknown) => void;

  constructor(
    private readonly file: MeasurableFile<R>,
    private readonly clock: Clock,
  ) {
    this.finished = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get accountId(): string {
    return this.file.accountId;
  }

  get hasGracePeriod(): boolean {
    return this.file.hasGracePeriod === true;
  }

  get isGraceOver(): boolean {
    return this.reader?.isGraceOver === true;
  }

  get isCostly(): boolean {
    return this.reader?.isCostly === true;
  }

  /** The rest of a file is unknown; a file that has taken little so far is likely to need little. */
  get costLeft(): number {
    return this.spentMs;
  }

  async step(isDemoted: boolean): Promise<number | null> {
    const { signal } = this.file;
    signal?.throwIfAborted();
    this.begun = true;
    const start = this.clock.now();
    try {
      this.reader ??= await this.file.open(isDemoted);
      return await this.reader.measure();
    } catch (error) {
      return failRequest(error, signal);
    } finally {
      this.spentMs += this.clock.now() - start;
    }
  }

  check(): void {
    this.file.signal?.throwIfAborted();
    if (this.reader !== null) this.file.check(this.reader);
  }

  async close(): Promise<void> {
    const { reader } = this;
    this.reader = null;
    await reader?.close();
  }

  succeed(durationSeconds: number): void {
    this.settled = true;
    if (this.reader !== null) this.resolve({ reader: this.reader, durationSeconds, spentMs: this.spentMs });
  }

  fail(reason: unknown): void {
    this.settled = true;
    void this.close();
    this.reject(reason);
  }
}

export class MeasuringQueue {
  private readonly queue = new FairQueue<Turns>(LONGEST_CLAIM_MS);
  /** The files that stay open between their turns. */
  private readonly places = new Set<Turns>();
  /** Those that do, too, for a while. */
  private readonly inGrace = new Set<Turns>();
  private readonly running = new Set<Turns>();
  private readonly demotions: Demotions;
  /** Pauses of demoted programs under way. */
  private pauses = 0;

  /** `isPaidWorkRunning`: default, none ever is. */
  constructor(
    private readonly limits: MeasuringLimits,
    private readonly workers: AudioWorkers,
    private readonly clock: Clock,
    private readonly isPaidWorkRunning: () => boolean = () => false,
  ) {
    this.demotions = new Demotions(clock);
  }

  /** Rejects with VerbatimError, with what `check` throws, or with signal.reason, at once while the file waits. */
  async run<R extends Measurable>(file: MeasurableFile<R>): Promise<MeasuredFile<R>> {
    const { signal } = file;
    signal?.throwIfAborted();
    const measuring = new Measuring(file, this.clock);
    const onAbort = (): void => {
      // One that is busy learns of it after its step.
      if (!measuring.busy) this.end(measuring, () => measuring.fail(signal?.reason));
      this.pump();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.queue.add(measuring);
    this.pump();
    try {
      return await measuring.finished;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  private pump(): void {
    while (this.running.size < this.limits.atOnce) {
      const measuring = this.queue.next((candidate) => this.mayGoOn(candidate));
      if (measuring === undefined) return;
      void this.turn(measuring);
    }
  }

  private mayGoOn(measuring: Turns): boolean {
    if (measuring.busy || !this.hasCallFor(measuring)) return false;
    if (this.places.has(measuring) || this.inGrace.has(measuring)) return true;
    if (!measuring.begun && this.hasGraceFor(measuring)) return true;
    return this.hasPlaceFor(measuring);
  }

  private isDemoted({ accountId, hasGracePeriod }: Turns): boolean {
    return hasGracePeriod && this.demotions.has(accountId);
  }

  private demotedAmong(files: ReadonlySet<Turns>): number {
    return [...files].filter((other) => this.isDemoted(other)).length;
  }

  private hasCallFor(measuring: Turns): boolean {
    if (!this.isDemoted(measuring)) return true;
    return this.pauses === 0 && this.demotedAmong(this.running) < this.limits.demotedAtOnce;
  }

  /** Whether a grace period is free for it. A file without one needs none. */
  private hasGraceFor(measuring: Turns): boolean {
    const { accountId, hasGracePeriod } = measuring;
    if (!hasGracePeriod) return true;
    if (this.isDemoted(measuring)) return false;
    return this.inGrace.size < this.limits.inGrace && [...this.inGrace].every((other) => other.accountId !== accountId);
  }

  private hasPlaceFor(measuring: Turns): boolean {
    const { accountId } = measuring;
    const { open, demotedOpen } = this.limits;
    if (this.places.size >= open) return false;
    if (this.isDemoted(measuring) && this.demotedAmong(this.places) >= demotedOpen) return false;
    const own = [...this.places].filter((other) => other.accountId === accountId);
    return own.length < this.limits.openPerAccount;
  }

  private async turn(measuring: Turns): Promise<void> {
    this.takeItsPlace(measuring);
    measuring.busy = true;
    this.running.add(measuring);
    try {
      const duration = await this.step(measuring);
      measuring.check();
      if (duration === null) await this.keepOrClose(measuring);
      else this.end(measuring, () => measuring.succeed(duration));
    } catch (error) {
      // Its place is free once its program is gone.
      await measuring.close();
      this.end(measuring, () => measuring.fail(error));
    }
    measuring.busy = false;
    this.running.delete(measuring);
    this.pump();
  }

  /** Before it is opened. */
  private takeItsPlace(measuring: Turns): void {
    if (this.inGrace.has(measuring)) return;
    if (measuring.begun) this.places.add(measuring);
    else if (measuring.hasGracePeriod) (this.hasGraceFor(measuring) ? this.inGrace : this.places).add(measuring);
  }

  /** A step that fails is charged as well. */
  private async step(measuring: Turns): Promise<number | null> {
    const before = measuring.spentMs;
    try {
      return await this.workers.run('measure', () => measuring.step(this.isDemoted(measuring)));
    } finally {
      const stepMs = measuring.spentMs - before;
      if (measuring.isCostly) this.demotions.demote(measuring.accountId);
      this.queue.charge(measuring, stepMs);
      if (this.isDemoted(measuring) && this.isPaidWorkRunning()) void this.pauseDemoted(stepMs);
    }
  }

  private async pauseDemoted(stepMs: number): Promise<void> {
    this.pauses++;
    await this.clock.sleep(stepMs * this.limits.demotedPause);
    this.pauses--;
    this.pump();
  }

  /** A place becomes free once nothing is left of what had it. */
  private async keepOrClose(measuring: Turns): Promise<void> {
    if (this.places.has(measuring) && !this.isInExcess(measuring)) return;
    if (this.inGrace.has(measuring) && !measuring.isGraceOver) return;
    if (!this.places.has(measuring) && this.hasPlaceFor(measuring)) this.places.add(measuring);
    else {
      await measuring.close();
      this.places.delete(measuring);
    }
    this.inGrace.delete(measuring);
  }

  /** Its account was demoted when it had its place already. */
  private isInExcess(measuring: Turns): boolean {
    return this.isDemoted(measuring) && this.demotedAmong(this.places) > this.limits.demotedOpen;
  }

  private end(measuring: Turns, settle: () => void): void {
    if (measuring.settled) return;
    settle();
    this.places.delete(measuring);
    this.inGrace.delete(measuring);
    this.queue.remove(measuring);
  }
}
