import type { DecoderBatch, Recogniser, WindowEncoder, WindowInFlight } from '../binding.js';
import { IdleSignal } from '../../idle-signal.js';
import type { Clock } from '../clock.js';
import { recreate } from './recreate.js';

/** The addon's limit. */
const MOST_THREADS = 256;

/** So many lanes, its own included, advance the batch. More than two were not measured. */
const MOST_LANES_OF_BATCH = 4;

/** What a unit computes with. */
export interface UnitShare {
  /** Its own lane, and the idle ones that help. */
  lanes: number;
  /** Of all these lanes. */
  threads: number;
}

export interface LaneOptions {
  lanes: number;
  /** CPU threads a lane. */
  threads: number;
  /** No unit has more with the help of idle lanes. */
  mostThreads: number;
  clock: Clock;
}

/**
 * What computes, in the units that a scheduler gives it: so many lanes, an encoder for each of them, and the one batch.
 * A unit takes a lane, and an encoder or the batch; what failed is recreated before it works again.
 *
 * A unit has the threads of its lane, and until it ends those of idle lanes. So a window alone is encoded on all
 * threads. A lane that gets work meanwhile begins at once, and shares its cores with that unit for as long as it takes.
 * The batch is helped by few lanes, and only if it is to be: the parts of a step are short.
 */
export class LanePool {
  private readonly encoders: WindowEncoder[] = [];
  /** null while it is recreated. */
  private batch: DecoderBatch | null = null;
  private advancing = false;
  private working = 0;
  /** Idle lanes whose threads a unit has. */
  private helping = 0;
  /** Lanes that may work or help; more do for a moment after the limit was lowered. */
  private mostWorking: number;
  private readonly withinLimit = new IdleSignal(() => this.working + this.helping <= this.mostWorking);
  private closed = false;
  private onReady: () => void = () => undefined;

  private constructor(
    readonly model: Recogniser,
    private readonly options: LaneOptions,
  ) {
    this.mostWorking = options.lanes;
  }

  /** Closes what it made when something cannot be made. */
  static async create(model: Recogniser, options: LaneOptions): Promise<LanePool> {
    const pool = new LanePool(model, options);
    try {
      for (let made = 0; made < options.lanes; made++) pool.encoders.push(await pool.createEncoder());
      pool.batch = await model.createBatch();
    } catch (error) {
      pool.close();
      throw error;
    }
    return pool;
  }

  get size(): number {
    return this.options.lanes;
  }

  get busy(): number {
    return this.working;
  }

  /** At most so many lanes work from now on, `size` at most; resolves when no more do. */
  limit(lanes: number): Promise<void> {
    this.mostWorking = Math.min(lanes, this.size);
    this.withinLimit.check();
    return this.withinLimit.whenIdle();
  }

  /** How many lanes may work. */
  get mostBusy(): number {
    return this.mostWorking;
  }

  get canEncode(): boolean {
    return this.working < this.mostWorking && this.encoders.length > 0;
  }

  get canDecode(): boolean {
    return this.working < this.mostWorking && this.isBatchAtRest;
  }

  /** Whether the batch can be advanced, were there a lane for it. */
  get isBatchAtRest(): boolean {
    return this.canJoin && !this.advancing;
  }

  /** Whether there is a batch to add windows to. */
  get canJoin(): boolean {
    return this.batch !== null;
  }

  /** Whether a unit that begins now, and no other, would be helped. */
  get canHelp(): boolean {
    return this.working + this.helping + 1 < this.mostWorking && 2 * this.options.threads <= this.options.mostThreads;
  }

  /** Called whenever something was recreated. */
  whenReady(listener: () => void): void {
    this.onReady = listener;
  }

  /** A unit of an encoder's work; only when canEncode. Resolves to whether the encoder is in doubt after it. */
  encode(unit: (encoder: WindowEncoder, share: UnitShare) => Promise<boolean>): Promise<void> {
    const encoder = this.encoders.pop();
    if (encoder === undefined) throw new Error('There is no encoder at rest.');
    return this.onLane(
      () => this.withIdleLanes(Infinity, (share) => unit(encoder, share)),
      (inDoubt) => {
        if (inDoubt || this.closed) encoder.close();
        else this.encoders.push(encoder);
        if (inDoubt) void this.replaceEncoder();
      },
    );
  }

  /**
   * Some steps of the batch, likewise; only when isBatchAtRest. A batch in doubt is let go of with the windows in it.
   * `isHelped`: by idle lanes, if there are any by then.
   */
  decode(isHelped: boolean, unit: (batch: DecoderBatch, share: UnitShare) => Promise<boolean>): Promise<void> {
    const { batch } = this;
    if (batch === null) throw new Error('There is no batch.');
    this.advancing = true;
    return this.onLane(
      () => this.withIdleLanes(isHelped ? MOST_LANES_OF_BATCH : 1, (share) => unit(batch, share)),
      (inDoubt) => {
        this.advancing = false;
        if (!inDoubt && !this.closed) return;
        batch.close();
        this.batch = null;
        if (inDoubt) void this.replaceBatch();
      },
    );
  }

  /** Adds a window to the batch, also while it advances; only when canJoin. */
  join(window: WindowInFlight): void {
    this.batch?.add(window);
  }

  /** Closes what is at rest now and the others when their work is done. */
  close(): void {
    this.closed = true;
    for (const encoder of this.encoders.splice(0)) encoder.close();
    if (this.advancing) return;
    this.batch?.close();
    this.batch = null;
  }

  private async onLane(unit: () => Promise<boolean>, over: (inDoubt: boolean) => void): Promise<void> {
    this.working++;
    const inDoubt = await unit();
    this.working--;
    this.withinLimit.check();
    over(inDoubt);
  }

  private async withIdleLanes(mostLanes: number, unit: (share: UnitShare) => Promise<boolean>): Promise<boolean> {
    // By then the scheduler has given work to every lane that there is work for.
    await Promise.resolve();
    const helping = Math.min(mostLanes - 1, this.idleShare());
    this.helping += helping;
    const lanes = 1 + helping;
    const inDoubt = await unit({ lanes, threads: lanes * this.options.threads });
    this.helping -= helping;
    return inDoubt;
  }

  /** As many idle lanes as each lane that works gets, if all of them begin a unit now. */
  private idleShare(): number {
    const { threads, mostThreads } = this.options;
    const idle = Math.max(0, this.mostWorking - this.working);
    const share = Math.ceil(idle / this.working);
    const most = Math.floor(Math.min(mostThreads, MOST_THREADS) / threads) - 1;
    return Math.max(0, Math.min(share, idle - this.helping, most));
  }

  private createEncoder(): Promise<WindowEncoder> {
    return this.model.createEncoder({ threads: this.options.threads });
  }

  private async replaceEncoder(): Promise<void> {
    const encoder = await this.recreate(() => this.createEncoder());
    if (encoder === null) return;
    this.encoders.push(encoder);
    this.onReady();
  }

  private async replaceBatch(): Promise<void> {
    const batch = await this.recreate(() => this.model.createBatch());
    if (batch === null) return;
    this.batch = batch;
    this.onReady();
  }

  private async recreate<T extends { close(): void }>(make: () => Promise<T>): Promise<T | null> {
    const { clock } = this.options;
    const made = await recreate({ make, isWanted: () => !this.closed, clock });
    if (made === null || !this.closed) return made;
    made.close();
    return null;
  }
}
