/**
 * The lanes of the machine, divided among the models that have work. Each model has a process of its own, and all of
 * them together never work on more lanes than there are.
 *
 * Where one model has work, it has all lanes. Else time is cut into slices, and in each slice every lane goes to the
 * model of the request whose turn it is. Turns are FairQueue's, whatever the models: accounts take turns, and within an
 * account the request with the least audio left goes first. A request takes as many lanes as it has windows left. Every
 * model with work has a lane, unless there are more such models than lanes; these then take turns by slices.
 *
 * The division is made anew when a model begins or ends to have work, and after each slice; never by window.
 */
import { costLeftOf, FairQueue, type Waiting } from './fair-queue.js';
import type { Timer, Timers } from '../timers.js';

/** Works on lanes: the engine of one model. */
export interface LaneUser {
  /** At most so many lanes work from now on; resolves when no more do. */
  limitLanes(lanes: number): Promise<void>;
}

/** A request that windows are transcribed for. */
export interface LaneWork {
  accountId: string;
  background: boolean;
  /** Of its audio. */
  leftSeconds: () => number;
}

export interface LaneDivisionOptions {
  /** How many there are; 1 or more. */
  lanes: () => number;
  timers: Timers;
  /** Milliseconds, monotonic. */
  now: () => number;
}

const SLICE_MS = 250;
/** How far an account may fall behind without losing the claim. */
const LONGEST_CLAIM_MS = 4 * SLICE_MS;
/** Of the longest windows. */
const WINDOW_SECONDS = 30;

class Request implements Waiting {
  readonly accountId: string;

  constructor(
    readonly model: LaneUser,
    private readonly work: LaneWork,
  ) {
    this.accountId = work.accountId;
  }

  get costLeft(): number {
    return costLeftOf(this.work.leftSeconds(), this.work);
  }

  get leftSeconds(): number {
    return this.work.leftSeconds();
  }

  /** More lanes than that do not help it. */
  get windows(): number {
    return Math.max(1, Math.ceil(this.work.leftSeconds() / WINDOW_SECONDS));
  }
}

interface Share {
  /** Lanes that it is to have. */
  target: number;
  /** The limit that it was given last. */
  limit: number;
  /** As many lanes may still work, since a lower limit does not hold yet. */
  working: number;
  /** Counts its limits. */
  turn: number;
}

export class LaneDivision {
  readonly #shares = new Map<LaneUser, Share>();
  readonly #queue = new FairQueue<Request>(LONGEST_CLAIM_MS);
  /** Of the slice under way: a request for each lane that it got. */
  #turns: Request[] = [];
  #since = 0;
  #slices: Timer | null = null;

  constructor(private readonly options: LaneDivisionOptions) {}

  /** It works on no lane so far; the first one gets all lanes. */
  add(model: LaneUser): void {
    const isAlone = this.#shares.size === 0;
    const lanes = isAlone ? this.options.lanes() : 0;
    this.#shares.set(model, { target: lanes, limit: lanes, working: lanes, turn: 0 });
    if (!isAlone) void model.limitLanes(0);
  }

  /** It has ended, and works on no lane any more. */
  remove(model: LaneUser): void {
    this.#shares.delete(model);
    this.#divide();
  }

  /** Of a model that was added. */
  begin(model: LaneUser, work: LaneWork): { end: () => void } {
    const request = new Request(model, work);
    const isFirst = !this.#hasWork(model);
    this.#queue.add(request);
    if (isFirst) this.#divide();
    return {
      end: () => {
        this.#queue.remove(request);
        if (!this.#hasWork(model)) this.#divide();
      },
    };
  }

  /** Seconds of audio that are left, by model; of models without work none. */
  leftSeconds(): Map<LaneUser, number> {
    const left = new Map<LaneUser, number>();
    for (const { model, leftSeconds } of this.#queue.items()) left.set(model, (left.get(model) ?? 0) + leftSeconds);
    return left;
  }

  /** Of a model that is alone nobody asks: it has all lanes. */
  #hasWork(model: LaneUser): boolean {
    return this.#shares.size === 1 || this.#busy().has(model);
  }

  #busy(): Set<LaneUser> {
    return new Set([...this.#queue.items()].map(({ model }) => model));
  }

  #divide(): void {
    this.#chargeSlice();
    const busy = this.#busy();
    const [only] = this.#shares.size === 1 ? this.#shares.keys() : busy.size === 1 ? busy : [];
    if (only !== undefined) this.#target(new Map([[only, this.options.lanes()]]));
    else if (busy.size > 1) this.#target(this.#nextSlice(busy));
    this.#watchSlices(busy.size > 1);
    this.#apply();
  }

  #chargeSlice(): void {
    const now = this.options.now();
    for (const request of this.#turns) this.#queue.charge(request, now - this.#since);
    this.#turns = [];
    this.#since = now;
  }

  #nextSlice(busy: ReadonlySet<LaneUser>): Map<LaneUser, number> {
    const lanes = this.options.lanes();
    const had = new Map<Request, number>();
    const lanesOf = (request: Request): number => had.get(request) ?? 0;
    const wantsLane = (request: Request): boolean => lanesOf(request) < request.windows;
    for (const request of this.#queue.upcoming(wantsLane, SLICE_MS)) {
      had.set(request, lanesOf(request) + 1);
      this.#turns.push(request);
      if (this.#turns.length === lanes) break;
    }
    const targets = new Map<LaneUser, number>();
    for (const { model } of this.#turns) targets.set(model, (targets.get(model) ?? 0) + 1);
    if (busy.size <= lanes) giveEachOne(targets, busy);
    return targets;
  }

  #watchSlices(isDivided: boolean): void {
    if (isDivided) this.#slices ??= this.options.timers.every(SLICE_MS, () => this.#divide());
    else {
      this.#slices?.cancel();
      this.#slices = null;
    }
  }

  #target(targets: ReadonlyMap<LaneUser, number>): void {
    for (const [model, share] of this.#shares) share.target = targets.get(model) ?? 0;
  }

  /** Lower limits first; what they free goes to the others once they hold. */
  #apply(): void {
    for (const [model, share] of this.#shares) if (share.target < share.limit) void this.#lower(model, share);
    let free = this.options.lanes() - [...this.#shares.values()].reduce((sum, { working }) => sum + working, 0);
    for (const [model, share] of this.#shares) {
      const limit = Math.min(share.target, share.working + Math.max(0, free));
      if (limit <= share.limit) continue;
      free -= Math.max(0, limit - share.working);
      Object.assign(share, { limit, working: Math.max(limit, share.working), turn: share.turn + 1 });
      void model.limitLanes(limit);
    }
  }

  async #lower(model: LaneUser, share: Share): Promise<void> {
    share.limit = share.target;
    const turn = ++share.turn;
    await model.limitLanes(share.limit);
    // Else it was given another limit meanwhile.
    if (share.turn !== turn) return;
    share.working = share.limit;
    this.#apply();
  }
}

/** A lane for each that has none, of the one that has most. */
function giveEachOne(targets: Map<LaneUser, number>, busy: ReadonlySet<LaneUser>): void {
  for (const model of busy) {
    if (targets.has(model)) continue;
    targets.set(model, 1);
    const [richest, lanes] = [...targets].reduce((most, one) => (one[1] > most[1] ? one : most));
    if (lanes > 1) targets.set(richest, lanes - 1);
  }
}
