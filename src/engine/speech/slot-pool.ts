import type { Slot, SpeechModel } from '../binding.js';
import { IdleSignal } from '../../idle-signal.js';
import type { Clock } from '../clock.js';
import { recreate } from './recreate.js';

/** A slot, acquired for one window. */
export interface Lease {
  readonly slot: Slot;
  /** Returns it; `inDoubt` replaces the slot first. */
  release(inDoubt: boolean): void;
}

/** The slots of one model, that is, of one device. */
interface DeviceSlots {
  readonly model: SpeechModel;
  readonly idle: Slot[];
}

/** The slots of all devices. An engine process of a server has one device; SpeechModelsOptions says who has several. */
export class SlotPool {
  private leased = 0;
  /** Slots that may be leased; more are for a while after the limit was lowered. */
  private mostLeased: number;
  private readonly withinLimit = new IdleSignal(() => this.leased <= this.mostLeased);
  private closed = false;
  private onIdle: () => void = () => undefined;

  private constructor(
    private readonly devices: readonly DeviceSlots[],
    private readonly threads: number,
    private readonly clock: Clock,
    readonly size: number,
  ) {
    this.mostLeased = size;
  }

  /** Makes `slots` slots on each device; closes what it made when one cannot be made. */
  static async create(
    models: readonly SpeechModel[],
    options: { slots: number; threads: number; clock: Clock },
  ): Promise<SlotPool> {
    const devices = models.map((model) => ({ model, idle: [] as Slot[] }));
    const pool = new SlotPool(devices, options.threads, options.clock, models.length * options.slots);
    try {
      for (const device of devices) {
        for (let made = 0; made < options.slots; made++) device.idle.push(await pool.createSlot(device));
      }
    } catch (error) {
      pool.close();
      throw error;
    }
    return pool;
  }

  get busy(): number {
    return this.leased;
  }

  /** Those that may be leased now. */
  get idle(): number {
    const idle = this.devices.reduce((sum, device) => sum + device.idle.length, 0);
    return Math.min(idle, Math.max(0, this.mostLeased - this.leased));
  }

  /** At most so many are leased from now on, `size` at most; resolves when no more are. */
  limit(slots: number): Promise<void> {
    this.mostLeased = Math.min(slots, this.size);
    this.withinLimit.check();
    return this.withinLimit.whenIdle();
  }

  /** Called whenever a slot has become idle by itself, that is, was replaced. */
  whenIdle(listener: () => void): void {
    this.onIdle = listener;
  }

  /** An idle slot, of the device that has most of them. */
  take(): Lease | undefined {
    const [first, ...others] = this.devices;
    if (first === undefined) return undefined;
    const device = others.reduce((most, other) => (other.idle.length > most.idle.length ? other : most), first);
    const slot = device.idle.pop();
    if (slot === undefined) return undefined;
    this.leased++;
    return { slot, release: (inDoubt) => this.release(device, slot, inDoubt) };
  }

  /** Closes the idle slots now and the others as they come back. */
  close(): void {
    this.closed = true;
    for (const device of this.devices) {
      for (const slot of device.idle.splice(0)) slot.close();
    }
  }

  private release(device: DeviceSlots, slot: Slot, inDoubt: boolean): void {
    this.leased--;
    this.withinLimit.check();
    if (!inDoubt && !this.closed) {
      device.idle.push(slot);
      return;
    }
    slot.close();
    if (inDoubt) void this.replace(device);
  }

  private async replace(device: DeviceSlots): Promise<void> {
    const make = (): Promise<Slot> => this.createSlot(device);
    const slot = await recreate({ make, isWanted: () => !this.closed, clock: this.clock });
    if (slot !== null) this.putIdle(device, slot);
  }

  private putIdle(device: DeviceSlots, slot: Slot): void {
    if (this.closed) {
      slot.close();
      return;
    }
    device.idle.push(slot);
    this.onIdle();
  }

  private createSlot(device: DeviceSlots): Promise<Slot> {
    return device.model.createSlot({ threads: this.threads });
  }
}
