import { IdleSignal } from '../../idle-signal.js';
import { ProcessUnavailable, shuttingDown, type ChildCallOptions } from '../process/pending-calls.js';
import type { EngineLoad } from '../types.js';
import type { EngineCalls } from './engine-calls.js';
import type { EngineSupervisor } from './engine-supervisor.js';
import { workUntilDone, type PlacedWork } from './placement.js';

export interface PlacedCallOptions<Name extends keyof EngineCalls> extends ChildCallOptions<EngineCalls[Name]> {
  /** As it is now; called again and again. */
  work: () => PlacedWork;
}

export type DeviceProcess = Pick<
  EngineSupervisor,
  'call' | 'load' | 'close' | 'isServing' | 'isResting' | 'failWaiting'
>;

/**
 * Somewhere else it must be done earlier by this much audio, at the speed there: a move costs windows that are begun.
 */
const WORTH_A_MOVE_SECONDS = 60;

/** There is no process for the call for a while, and one elsewhere. */
class Displaced extends Error {
  override readonly name = 'Displaced';
}

interface Device {
  readonly process: DeviceProcess;
  readonly calls: Set<PlacedCall>;
  /** Number of the last call that it was given: among equals the one that waits longer is next. */
  lastCall: number;
}

interface PlacedCall {
  readonly work: () => PlacedWork;
  device: Device;
  /** Ends the attempt under way, for one at the device that the call has been put at meanwhile. */
  moving: AbortController;
  /**
   * How often it was sent to processes of the device it is at: once and that one is gone, or more often, and one has
   * died with it.
   */
  sent: number;
  /** A process of another device, which is not there any more, has died with it. */
  crashedElsewhere: boolean;
}

/**
 * An engine of several devices, each with a process of its own: a call goes to the one where it will be done first. It
 * stays there, and is repeated there, unless another one has nothing to do, or no process can be had there.
 */
export class DeviceProcesses {
  readonly #devices: readonly Device[];
  #calls = 0;
  #closing = false;
  readonly #idle = new IdleSignal(() => this.#devices.every(({ calls }) => calls.size === 0));

  constructor(processes: readonly DeviceProcess[]) {
    this.#devices = processes.map((process) => ({ process, calls: new Set(), lastCall: 0 }));
  }

  /** As EngineSupervisor.call(); refuses when none of the devices has a process. */
  async call<Name extends keyof EngineCalls>(
    name: Name,
    options: PlacedCallOptions<Name>,
  ): Promise<EngineCalls[Name]['answer']> {
    if (this.#closing) throw shuttingDown();
    const { work } = options;
    const unavailable = new Set<Device>();
    const call: PlacedCall = {
      ...{ work, device: this.#deviceFor(work(), unavailable), moving: new AbortController() },
      ...{ sent: 0, crashedElsewhere: false },
    };
    call.device.calls.add(call);
    try {
      for (;;) {
        try {
          return await this.#attempt(call, name, options);
        } catch (error) {
          if (call.moving.signal.aborted && options.signal?.aborted !== true) continue;
          if (error instanceof ProcessUnavailable) unavailable.add(call.device);
          else if (!(error instanceof Displaced)) throw error;
          if (unavailable.size === this.#devices.length) throw error;
          call.crashedElsewhere ||= call.sent > 0;
          goTo(this.#deviceFor(work(), unavailable), call);
        }
      }
    } finally {
      call.device.calls.delete(call);
      this.#fillIdle();
      this.#idle.check();
    }
  }

  /** Of all that serve. */
  get load(): EngineLoad {
    const all = this.#devices.map(({ process }) => process.load);
    const sum = (of: (load: EngineLoad) => number): number => all.reduce((sum, load) => sum + of(load), 0);
    return {
      slots: sum(({ slots }) => slots),
      busySlots: sum(({ busySlots }) => busySlots),
      windowsInFlight: sum(({ windowsInFlight }) => windowsInFlight),
      queuedWindows: sum(({ queuedWindows }) => queuedWindows),
      realTimeFactor: this.#realTimeFactor,
    };
  }

  /** As EngineSupervisor.close(); all of them stay until then, since each may have to end what another had. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#idle.whenIdle();
    await Promise.all(this.#devices.map(({ process }) => process.close()));
  }

  /** A process has become ready, or is gone: whatever is better done elsewhere now goes there. */
  changed(): void {
    for (const { process } of this.#devices)
      if (process.isResting && this.#devices.some((other) => other.process.isServing))
        process.failWaiting(() => new Displaced());
    this.#fillIdle();
  }

  #attempt<Name extends keyof EngineCalls>(
    call: PlacedCall,
    name: Name,
    options: PlacedCallOptions<Name>,
  ): Promise<EngineCalls[Name]['answer']> {
    const { device, crashedElsewhere } = call;
    device.lastCall = ++this.#calls;
    Object.assign(call, { moving: new AbortController(), sent: 0 });
    const signals = [options.signal ?? [], call.moving.signal].flat();
    return device.process.call(name, {
      ...{ ...options, crashedElsewhere, signal: AbortSignal.any(signals) },
      request: () => {
        call.sent += 1;
        return options.request();
      },
    });
  }

  /** If no device has a process for a while, the call waits for one. */
  #deviceFor(work: PlacedWork, without: ReadonlySet<Device>): Device {
    const left = this.#devices.filter((device) => !without.has(device));
    const serving = left.filter(({ process }) => process.isServing);
    return firstDone(serving.length > 0 ? serving : left, work);
  }

  /** Where it would be done so much earlier that it is worth a move; null: nowhere. */
  #betterFor(call: PlacedCall): Device | null {
    const work = call.work();
    const others = this.#serving().filter((device) => device !== call.device);
    const isMovable = call.device.process.isServing && call.sent === 1;
    if (others.length === 0 || call.crashedElsewhere || !isMovable) return null;
    const best = firstDone(others, work);
    const gain = secondsUntilDone(work, call.device, call) - secondsUntilDone(work, best);
    return gain > WORTH_A_MOVE_SECONDS * best.process.load.realTimeFactor ? best : null;
  }

  /** What serves and has no audio takes from another the longest that is done earlier so. */
  #fillIdle(): void {
    // Each call ends with this, and most services have one.
    if (this.#devices.length === 1) return;
    for (const idle of this.#serving()) {
      if (speechIn(idle).length > 0) continue;
      const longest = this.#devices.flatMap((device) => longestOf(speechIn(device)) ?? []);
      const moving = longest.find((call) => this.#betterFor(call) === idle);
      if (moving !== undefined) this.#move(moving, idle);
    }
  }

  #move(call: PlacedCall, to: Device): void {
    const { moving } = call;
    goTo(to, call);
    moving.abort();
  }

  /** Of those that serve together; where none does, as fast as they were. */
  get #realTimeFactor(): number {
    const serving = this.#serving();
    const those = serving.length > 0 ? serving : this.#devices;
    return 1 / those.reduce((speed, { process }) => speed + 1 / process.load.realTimeFactor, 0);
  }

  #serving(): Device[] {
    return this.#devices.filter(({ process }) => process.isServing);
  }
}

/** Changes the place at once: the next request that is placed counts the call there. */
function goTo(device: Device, call: PlacedCall): void {
  call.device.calls.delete(call);
  device.calls.add(call);
  call.device = device;
}

function speechIn({ calls }: Device): PlacedCall[] {
  return [...calls].filter(({ work }) => work().kind === 'speech');
}

/** Of those that can be moved. */
function longestOf(calls: readonly PlacedCall[]): PlacedCall | null {
  let longest: PlacedCall | null = null;
  for (const call of calls)
    if (call.sent === 1 && !(call.work().amount <= (longest?.work().amount ?? 0))) longest = call;
  return longest;
}

/** `devices`: one at least. */
function firstDone(devices: readonly Device[], work: PlacedWork): Device {
  const [first, ...others] = devices;
  if (first === undefined) throw new RangeError('There is no device.');
  return others.reduce((best, other) => (isBefore(other, best, work) ? other : best), first);
}

/** Where it is done first; else where less is left to do; else whose turn it is. */
function isBefore(one: Device, other: Device, work: PlacedWork): boolean {
  const sooner = secondsUntilDone(work, one) - secondsUntilDone(work, other);
  const less = secondsLeft(work, one) - secondsLeft(work, other);
  return sooner !== 0 ? sooner < 0 : less !== 0 ? less < 0 : one.lastCall < other.lastCall;
}

function secondsUntilDone(work: PlacedWork, device: Device, itself?: PlacedCall): number {
  const others = [...device.calls].filter((call) => call !== itself).map((call) => call.work());
  return workUntilDone(work, others) * secondsPerUnit(work, device);
}

function secondsLeft(work: PlacedWork, device: Device): number {
  const all = [...device.calls].map((call) => call.work()).filter(({ kind }) => kind === work.kind);
  return all.reduce((sum, { amount }) => sum + amount, 0) * secondsPerUnit(work, device);
}

/** Of the device's time; only audio's speed is measured. */
function secondsPerUnit({ kind }: PlacedWork, { process }: Device): number {
  return kind === 'speech' ? process.load.realTimeFactor : 1;
}
