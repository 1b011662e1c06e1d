/**
 * Schedules units of work on lanes. A unit is some layers of one window's encoder, or some steps of the batch in which
 * all windows are decoded. After every unit the scheduler decides again what the lane does. So a clip that arrives
 * overtakes the running work, and joins the batch beside the other windows.
 *
 * A window begins when an encoder takes it; this is its request's turn (see FairQueue). Of the windows that have begun,
 * the one whose request has the least audio left goes first. A window that was passed over PASSED_OVER_LIMIT times goes
 * before all others. A request whose turn has come goes before these windows if it has less audio left. StepPolicy
 * decides how encoding and decoding share the lanes.
 *
 * `windowsInFlight` limits the windows that have begun. An account without such a window may begin one beyond the
 * limit, up to twice the limit, so that the windows of some accounts never delay another account's clip.
 */
import type { BatchAdvance, WindowInFlight, WindowStage } from '../binding.js';
import type { Clock } from '../clock.js';
import { PASSED_OVER_LIMIT } from '../fair-queue.js';
import { leavesSlotInDoubt } from '../native-errors.js';
import type { EngineObserver } from '../types.js';
import { Flight, type FlightPlace } from './flight.js';
import type { LanePool } from './lane-pool.js';
import { RequestQueue, type FinishedWindow, type QueuedRequest, type WindowedRequest } from './request-queue.js';
import { StepPace } from './step-pace.js';
import { StepPolicy, type StepState } from './step-policy.js';
import type { SchedulerLoad, WindowScheduler } from './window-scheduler.js';

export interface StepSchedulerOptions {
  /** The length of the longest window. */
  windowSeconds: number;
  windowsInFlight: number;
  clock: Clock;
  observer: EngineObserver | undefined;
}

/** What the encoder works on next: a window that has begun, or the next window of a request. */
type Candidate = Flight | QueuedRequest;

export class StepScheduler implements WindowScheduler {
  private readonly requests: RequestQueue;
  private readonly policy: StepPolicy;
  private readonly pace = new StepPace();
  /** In the order in which they began. */
  private readonly flights = new Set<Flight>();

  constructor(
    private readonly lanes: LanePool,
    private readonly options: StepSchedulerOptions,
  ) {
    const { windowSeconds } = options;
    const fill = (): void => this.fill();
    this.requests = new RequestQueue({ lookAhead: lanes.size + 1, windowSeconds, fill });
    this.policy = new StepPolicy({
      windowSeconds,
      get lanes() {
        return lanes.mostBusy;
      },
    });
    lanes.whenReady(() => {
      for (const flight of this.at('joining')) this.join(flight);
      this.requests.pump();
    });
  }

  run(request: WindowedRequest, signal?: AbortSignal): Promise<void> {
    return this.requests.run(request, signal);
  }

  load(): SchedulerLoad {
    const { size: slots, busy: busySlots } = this.lanes;
    const { queuedWindows } = this.requests;
    return { slots, busySlots, windowsInFlight: this.flights.size, queuedWindows };
  }

  limit(lanes: number): Promise<void> {
    const within = this.lanes.limit(lanes);
    this.requests.pump();
    return within;
  }

  whenDrained(): Promise<void> {
    return this.requests.whenDrained();
  }

  close(): void {
    this.lanes.close();
  }

  private fill(): void {
    for (;;) {
      const candidate = this.nextForEncoder();
      const unit = this.policy.choose(this.state(candidate));
      if (unit === null) return;
      if (unit === 'decode') void this.decode();
      else if (candidate instanceof Flight) void this.encode(candidate);
      else if (candidate !== undefined) this.begin(candidate);
    }
  }

  private state(candidate: Candidate | undefined): StepState {
    const { canEncode } = this.lanes;
    const decoding = this.at('decoding');
    const hasAborted = decoding.some((flight) => flight.isAborted);
    const leftSeconds = Math.min(...decoding.map((flight) => flight.leftSeconds));
    return {
      encode: candidate === undefined ? null : this.waitingFor(candidate),
      decode: decoding.length === 0 ? null : { leftSeconds, windows: decoding.length },
      encodingLeftSeconds: Math.min(...this.at('encoding').map((flight) => flight.leftSeconds)),
      canEncode,
      // An aborted request's rows leave the batch in a step, even if no lane may work.
      canDecode: this.lanes.canDecode || (hasAborted && this.lanes.mostBusy === 0 && this.lanes.isBatchAtRest),
      hasAborted,
    };
  }

  private waitingFor(candidate: Candidate): NonNullable<StepState['encode']> {
    const room = Math.max(0, this.options.windowsInFlight - this.flights.size);
    const begun = this.at('waiting').length + this.at('encoding').length;
    const windows = begun + this.requests.queuedUpTo(room);
    const leftSeconds = candidate instanceof Flight ? candidate.leftSeconds : candidate.costLeft;
    return { leftSeconds, windows };
  }

  private nextForEncoder(): Candidate | undefined {
    const waiting = this.at('waiting');
    const overdue = waiting.find((flight) => flight.passedOver >= PASSED_OVER_LIMIT);
    if (overdue !== undefined) return overdue;
    const begun = leastLeft(waiting);
    const fresh = this.requests.next((request) => this.mayBegin(request));
    if (begun === undefined || fresh === undefined) return begun ?? fresh;
    const mayOvertake = this.requests.isDue(fresh) || fresh.accountId === begun.accountId;
    return mayOvertake && fresh.costLeft < begun.leftSeconds ? fresh : begun;
  }

  private mayBegin({ accountId }: QueuedRequest): boolean {
    const { windowsInFlight } = this.options;
    if (this.flights.size < windowsInFlight) return true;
    if (this.flights.size >= 2 * windowsInFlight) return false;
    return ![...this.flights].some((flight) => flight.accountId === accountId);
  }

  private begin(request: QueuedRequest): void {
    const begun: Flight[] = [];
    this.requests.begin(request, {
      transcribe: (window, options, signal) => {
        const flight = new Flight(request, this.lanes.model.openWindow(window, options));
        begun.push(flight);
        return this.fly(flight, signal);
      },
    });
    // A window that cannot be opened fails its request, and the next one gets the lane. The same happens to a file
    // without audio.
    for (const flight of begun) {
      if (flight.window.stage === 'encode') void this.encode(flight);
      else this.proceed(flight, flight.window.stage);
    }
  }

  private async fly(flight: Flight, signal: AbortSignal): Promise<FinishedWindow> {
    const onAbort = (): void => this.abort(flight, signal.reason);
    this.flights.add(flight);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await flight.finished;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  private abort(flight: Flight, reason: unknown): void {
    flight.window.abort();
    flight.isAborted = true;
    flight.abortReason = reason;
    if (flight.place === 'waiting' || flight.place === 'joining') this.fail(flight, reason);
  }

  private async encode(flight: Flight): Promise<void> {
    this.passOver(flight);
    flight.place = 'encoding';
    await this.lanes.encode(async (encoder, { lanes, threads }) => {
      const start = this.options.clock.now();
      try {
        const stage = await encoder.advance(flight.window, { threads });
        const milliseconds = this.options.clock.now() - start;
        flight.laneMs += lanes * milliseconds;
        this.policy.spent('encode', milliseconds);
        return !this.proceed(flight, stage);
      } catch (error) {
        this.fail(flight, error);
        return leavesSlotInDoubt(error);
      }
    });
    this.requests.pump();
  }

  private passOver(chosen: Flight): void {
    chosen.passedOver = 0;
    for (const flight of this.flights) {
      if (flight === chosen) return;
      if (flight.place === 'waiting') flight.passedOver++;
    }
  }

  private async decode(): Promise<void> {
    const decoding = this.at('decoding');
    const { steps, isHelped } = this.pace.next(decoding.length, this.lanes.canHelp);
    await this.lanes.decode(isHelped, async (batch, { lanes, threads }) => {
      const start = this.options.clock.now();
      try {
        const done = await batch.advance({ steps, threads });
        this.measure(decoding, done, this.options.clock.now() - start, lanes);
        return !this.takeBack(new Set(done.left));
      } catch (error) {
        for (const flight of this.at('decoding')) this.fail(flight, error);
        return true;
      }
    });
    this.requests.pump();
  }

  private measure(
    decoding: readonly Flight[],
    { steps, rows }: BatchAdvance,
    milliseconds: number,
    lanes: number,
  ): void {
    const windows = decoding.length;
    for (const flight of decoding) {
      flight.decodeMs += milliseconds / windows;
      flight.laneMs += (lanes * milliseconds) / windows;
    }
    this.pace.took({ windows, steps, milliseconds, isHelped: lanes > 1 });
    this.policy.spent('decode', milliseconds);
    this.options.observer?.batchAdvanced?.({ windows, steps, rows, milliseconds });
  }

  /**
   * Moves on the windows that left the batch. Returns false if the batch may be damaged: one of them failed, and no
   * other window is left in the batch. If others are left, only the failed window was damaged.
   */
  private takeBack(left: ReadonlySet<WindowInFlight>): boolean {
    let isGood = true;
    for (const flight of this.at('decoding')) {
      if (left.has(flight.window)) isGood = this.proceed(flight, flight.window.stage) && isGood;
    }
    return isGood || this.at('decoding').length > 0;
  }

  /** Returns false if it failed in a way that may have damaged the slot or batch that worked on it. */
  private proceed(flight: Flight, stage: WindowStage): boolean {
    if (flight.isAborted) this.fail(flight, flight.abortReason);
    else if (stage === 'encode') flight.place = 'waiting';
    else if (stage === 'decode') this.join(flight);
    else {
      this.flights.delete(flight);
      return flight.finish();
    }
    return true;
  }

  private join(flight: Flight): void {
    flight.place = this.lanes.canJoin ? 'decoding' : 'joining';
    if (flight.place === 'joining') return;
    try {
      this.lanes.join(flight.window);
    } catch (error) {
      this.fail(flight, error);
    }
  }

  private fail(flight: Flight, error: unknown): void {
    this.flights.delete(flight);
    flight.fail(error);
  }

  private at(place: FlightPlace): Flight[] {
    return [...this.flights].filter((flight) => flight.place === place);
  }
}

/** The first of the flights with the least audio left. */
function leastLeft(flights: readonly Flight[]): Flight | undefined {
  let best: Flight | undefined;
  for (const flight of flights) {
    if (best === undefined || flight.leftSeconds < best.leftSeconds) best = flight;
  }
  return best;
}
