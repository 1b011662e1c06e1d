import { IdleSignal } from '../../idle-signal.js';
import { ProcessUnavailable, shuttingDown, type ChildCallOptions } from '../process/pending-calls.js';
import type { EngineLoad } from '../types.js';
import type { EngineCalls } from './engine-calls.js';
import type { EngineSupervisor } from './engine-supervisor.js';
import { workUntilDone, type PlacedWork } from './placement.js';

export interface PlacedCallOptions<Name extends keyof EngineCalls> extends ChildCallOptions<EngineCalls[Name]> {
  /** The work that is left now. Called many times. */
  work: () => PlacedWork;
}

export type DeviceProcess = Pick<
  EngineSupervisor,
  'call' | 'load' | 'close' | 'isServing' | 'isResting' | 'failWaiting'
>;

/**
 * A call moves only if it ends earlier by this much audio, at the other device's speed. A move repeats windows that
 * were begun.
 */
const WORTH_A_MOVE_SECONDS = 60;

/** The call's device has no process for a while, and another device has one. */
class Displaced extends Error {
  override readonly name = 'Displaced';
}

interface Device {
  readonly process: DeviceProcess;
  readonly calls: Set<PlacedCall>;
  /**
   * The number of the last call that the device was given. Of otherwise equal devices, the one that waited longer is
   * next.
   */
  lastCall: number;
}

interface PlacedCall {
  readonly work: () => PlacedWork;
  device: Device;
  /** Aborts the current attempt after the call was moved to another device. */
  moving: AbortController;
  /**
   * How often the call was sent to processes of its current device. A process has died with the call if this is more
   * than 1, or if it is 1 and that process has ended.
   */
  sent: number;
  /** Whether a process of an earlier device has died with this call. */
  crashedElsewhere: boolean;
}

/**
 * An engine on several devices, with a process for each. A call goes to the device where it ends first. It stays there,
 * and is repeated there, unless another device is idle or no process can be started there.
 */
export class DeviceProcesses {
  readonly #devices: readonly Device[];
  #calls = 0;
  #closing = false;
  readonly #idle = new IdleSignal(() => this.#devices.every(({ calls }) => calls.size === 0));

  constructor(processes: readonly DeviceProcess[]) {
    this.#devices = processes.map((process) => ({ process, calls: new Set(), lastCall: 0 }));
  }

  /** As EngineSupervisor.call(). Refuses the call if no device has a process. */
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

  /** The load of all serving devices together. */
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

  /**
   * As EngineSupervisor.close(). All processes stay until all calls are done, because each may have to finish another's
   * calls.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#idle.whenIdle();
    await Promise.all(this.#devices.map(({ process }) => process.close()));
  }

  /** A process has become ready or has ended. Calls move to another device if they end earlier there. */
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

  /** The device where the call ends so much earlier that a move is worthwhile. null: there is none. */
  #betterFor(call: PlacedCall): Device | null {
    const work = call.work();
    const others = this.#serving().filter((device) => device !== call.device);
    const isMovable = call.device.process.isServing && call.sent === 1;
    if (others.length === 0 || call.crashedElsewhere || !isMovable) return null;
    const best = firstDone(others, work);
    const gain = secondsUntilDone(work, call.device, call) - secondsUntilDone(work, best);
    return gain > WORTH_A_MOVE_SECONDS * best.process.load.realTimeFactor ? best : null;
  }

  /** Each serving device without audio takes the longest call of another device, if the call ends earlier that way. */
  #fillIdle(): void {
    // Runs after each call, and most services have one device.
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

  /** The real-time factor of all serving devices together. If none serves, the factor that they had. */
  get #realTimeFactor(): number {
    const serving = this.#serving();
    const those = serving.length > 0 ? serving : this.#devices;
    return 1 / those.reduce((speed, { process }) => speed + 1 / process.load.realTimeFactor, 0);
  }

  #serving(): Device[] {
    return this.#devices.filter(({ process }) => process.isServing);
  }
}

/** Moves the call at once, so that the next placed request counts it there. */
function goTo(device: Device, call: PlacedCall): void {
  call.device.calls.delete(call);
  device.calls.add(call);
  call.device = device;
}

function speechIn({ calls }: Device): PlacedCall[] {
  return [...calls].filter(({ work }) => work().kind === 'speech');
}

/** The longest of the calls that can be moved. */
function longestOf(calls: readonly PlacedCall[]): PlacedCall | null {
  let longest: PlacedCall | null = null;
  for (const call of calls)
    if (call.sent === 1 && !(call.work().amount <= (longest?.work().amount ?? 0))) longest = call;
  return longest;
}

/** Throws RangeError if `devices` is empty. */
function firstDone(devices: readonly Device[], work: PlacedWork): Device {
  const [first, ...others] = devices;
  if (first === undefined) throw new RangeError('There is no device.');
  return others.reduce((best, other) => (isBefore(other, best, work) ? other : best), first);
}

/** Prefers the device where the work ends first, then the one with less work left, then the one that waited longer. */
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

/** Seconds of the device's time for a unit of work. Only the speed for audio is measured. */
function secondsPerUnit({ kind }: PlacedWork, { process }: Device): number {
  return kind === 'speech' ? process.load.realTimeFactor : 1;
}
