import type { BatchAdvance, DecoderBatch, Recogniser, WindowEncoder, WindowInFlight } from '../binding.js';
import type { WindowStage } from '../binding.js';
import type { Clock } from '../clock.js';
import { leavesSlotInDoubt } from '../native-errors.js';
import { makeAnew } from './make-anew.js';

export interface LaneOptions {
  lanes: number;
  /** CPU threads a lane. */
  threads: number;
  clock: Clock;
}

/**
 * What computes, in the units that a scheduler gives it: so many lanes, an encoder for each of them, and the one batch. A
 * unit takes a lane, and an encoder or the batch; what failed is made anew before it works again.
 */
export class LanePool {
  private readonly encoders: WindowEncoder[] = [];
  /** null while it is made anew. */
  private batch: DecoderBatch | null = null;
  private advancing = false;
  private working = 0;
  private closed = false;
  private onReady: () => void = () => undefined;

  private constructor(
    readonly model: Recogniser,
    private readonly options: LaneOptions,
  ) {}

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

  get canEncode(): boolean {
    return this.working < this.size && this.encoders.length > 0;
  }

  get canDecode(): boolean {
    return this.working < this.size && this.canJoin && !this.advancing;
  }

  /** Whether there is a batch to add windows to. */
  get canJoin(): boolean {
    return this.batch !== null;
  }

  /** Called whenever something was made anew. */
  whenReady(listener: () => void): void {
    this.onReady = listener;
  }

  /** One unit of work on a window; only when canEncode. */
  encode(window: WindowInFlight): Promise<WindowStage> {
    const encoder = this.encoders.pop();
    if (encoder === undefined) throw new Error('There is no encoder at rest.');
    return this.onLane(
      () => encoder.advance(window),
      (error) => {
        const inDoubt = error !== null && leavesSlotInDoubt(error);
        if (inDoubt || this.closed) encoder.close();
        else this.encoders.push(encoder);
        if (inDoubt) void this.replaceEncoder();
      },
    );
  }

  /** Some steps of the batch; only when canDecode. When it rejects, all windows are out of the batch. */
  decode(steps: number): Promise<BatchAdvance> {
    const { batch } = this;
    if (batch === null) throw new Error('There is no batch.');
    this.advancing = true;
    return this.onLane(
      () => batch.advance({ steps, threads: this.options.threads }),
      (error) => {
        this.advancing = false;
        if (error === null && !this.closed) return;
        batch.close();
        this.batch = null;
        if (error !== null) void this.replaceBatch();
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

  private async onLane<T>(unit: () => Promise<T>, over: (error: unknown) => void): Promise<T> {
    this.working++;
    let failure: unknown = null;
    try {
      return await unit();
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      this.working--;
      over(failure);
    }
  }

  private createEncoder(): Promise<WindowEncoder> {
    return this.model.createEncoder({ threads: this.options.threads });
  }

  private async replaceEncoder(): Promise<void> {
    const encoder = await this.makeAnew(() => this.createEncoder());
    if (encoder === null) return;
    this.encoders.push(encoder);
    this.onReady();
  }

  private async replaceBatch(): Promise<void> {
    const batch = await this.makeAnew(() => this.model.createBatch());
    if (batch === null) return;
    this.batch = batch;
    this.onReady();
  }

  private async makeAnew<T extends { close(): void }>(make: () => Promise<T>): Promise<T | null> {
    const { clock } = this.options;
    const made = await makeAnew({ make, isWanted: () => !this.closed, clock });
    if (made === null || !this.closed) return made;
    made.close();
    return null;
  }
}
