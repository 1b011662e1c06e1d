/**
 * Finding out how long files are, before anybody has paid for them. Accounts take turns (see FairQueue; a turn is one
 * step, and costs the time it took), so that an account with a hundred files that decode to hours takes no more than
 * its share from one with a short clip.
 *
 * A decoder can take megabytes, so few files stay open. Every file is opened for its first turn, which is enough for
 * most; one that is not done then stays open while there is a place, of its account and in all, and is otherwise
 * closed, to begin anew when one is free. So a short clip never waits for a place, at most one step of a long file is
 * done twice, and at most `atOnce + open` decoders exist.
 *
 * What starts a program first gets no clip done in one step. It is on trial, and stays open without a place, until its trial is
 * over; so few are on trial at a time that everybody soon is.
 */
import type { Clock } from '../clock.js';
import { FairQueue, type Waiting } from '../fair-queue.js';
import { failRequest } from '../native-errors.js';
import type { AudioWorkers } from './audio-workers.js';

export interface MeasuringLimits {
  /** Native calls at once. */
  atOnce: number;
  /** Files that stay open between their turns. */
  open: number;
  openPerAccount: number;
  /** Files on trial, one of an account. */
  onTrial: number;
}

/** An AudioReader, or what does more than to read. */
export interface Measurable {
  /** One step; resolves to the duration in seconds once it is known, to null while there is more to do. */
  measure(): Promise<number | null>;
  /** Of what has a trial. */
  readonly isTried?: boolean;
  close(): void;
}

export interface FileToMeasure<R extends Measurable> {
  accountId: string;
  signal?: AbortSignal | undefined;
  /** Default: it has none. */
  hasTrial?: boolean;
  open(): Promise<R>;
  /** Called after every step; what it throws ends the measuring. */
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

/** What the queue knows of a file. */
interface Turns extends Waiting {
  readonly begun: boolean;
  busy: boolean;
  readonly settled: boolean;
  readonly spentMs: number;
  readonly hasTrial: boolean;
  readonly isTried: boolean;
  /** One turn; resolves to the duration once it is known. */
  step(): Promise<number | null>;
  /** Throws when the file is not to be measured on. */
  check(): void;
  close(): void;
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
    private readonly file: FileToMeasure<R>,
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

  get hasTrial(): boolean {
    return this.file.hasTrial === true;
  }

  get isTried(): boolean {
    return this.reader?.isTried === true;
  }

  /** Nobody knows what is left of a file; those that have taken little so far are likely to need little. */
  get costLeft(): number {
    return this.spentMs;
  }

  async step(): Promise<number | null> {
    const { signal } = this.file;
    signal?.throwIfAborted();
    this.begun = true;
    const start = this.clock.now();
    try {
      this.reader ??= await this.file.open();
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

  close(): void {
    this.reader?.close();
    this.reader = null;
  }

  succeed(durationSeconds: number): void {
    this.settled = true;
    if (this.reader !== null) this.resolve({ reader: this.reader, durationSeconds, spentMs: this.spentMs });
  }

  fail(reason: unknown): void {
    this.settled = true;
    this.close();
    this.reject(reason);
  }
}

export class MeasuringQueue {
  private readonly queue = new FairQueue<Turns>(LONGEST_CLAIM_MS);
  /** The files that stay open between their turns. */
  private readonly places = new Set<Turns>();
  /** Those that do, too, for a while. */
  private readonly trials = new Set<Turns>();
  private running = 0;

  constructor(
    private readonly limits: MeasuringLimits,
    private readonly workers: AudioWorkers,
    private readonly clock: Clock,
  ) {}

  /** Rejects with VerbatimError, with what `check` throws, or with signal.reason, at once while the file waits. */
  async run<R extends Measurable>(file: FileToMeasure<R>): Promise<MeasuredFile<R>> {
    const { signal } = file;
    signal?.throwIfAborted();
    const measuring = new Measuring(file, this.clock);
    const onAbort = (): void => {
      // One that is busy is told after its step.
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
    while (this.running < this.limits.atOnce) {
      const measuring = this.queue.next((candidate) => this.mayGoOn(candidate));
      if (measuring === undefined) return;
      void this.turn(measuring);
    }
  }

  private mayGoOn(measuring: Turns): boolean {
    if (measuring.busy) return false;
    if (this.places.has(measuring) || this.trials.has(measuring)) return true;
    if (!measuring.begun && this.hasTrialFor(measuring)) return true;
    return this.hasPlaceFor(measuring);
  }

  /** What has no trial needs none. */
  private hasTrialFor({ accountId, hasTrial }: Turns): boolean {
    if (!hasTrial) return true;
    return (
      this.trials.size < this.limits.onTrial &&
      [...this.trials].every((other) => other.accountId !== accountId)
    );
  }

  private hasPlaceFor({ accountId }: Turns): boolean {
    if (this.places.size >= this.limits.open) return false;
    const own = [...this.places].filter((other) => other.accountId === accountId);
    return own.length < this.limits.openPerAccount;
  }

  private async turn(measuring: Turns): Promise<void> {
    this.takeItsPlace(measuring);
    measuring.busy = true;
    this.running++;
    try {
      const duration = await this.step(measuring);
      measuring.check();
      if (duration === null) this.keepOrClose(measuring);
      else this.end(measuring, () => measuring.succeed(duration));
    } catch (error) {
      this.end(measuring, () => measuring.fail(error));
    }
    measuring.busy = false;
    this.running--;
    this.pump();
  }

  /** Before it is opened. */
  private takeItsPlace(measuring: Turns): void {
    if (this.trials.has(measuring)) return;
    if (measuring.begun) this.places.add(measuring);
    else if (measuring.hasTrial) (this.hasTrialFor(measuring) ? this.trials : this.places).add(measuring);
  }

  /** A step that fails is charged as well. */
  private async step(measuring: Turns): Promise<number | null> {
    const before = measuring.spentMs;
    try {
      return await this.workers.run('measure', () => measuring.step());
    } finally {
      this.queue.charge(measuring, measuring.spentMs - before);
    }
  }

  private keepOrClose(measuring: Turns): void {
    if (this.places.has(measuring)) return;
    if (this.trials.has(measuring) && !measuring.isTried) return;
    this.trials.delete(measuring);
    if (this.hasPlaceFor(measuring)) this.places.add(measuring);
    else measuring.close();
  }

  private end(measuring: Turns, settle: () => void): void {
    if (measuring.settled) return;
    settle();
    this.places.delete(measuring);
    this.trials.delete(measuring);
    this.queue.remove(measuring);
  }
}
