/**
 * Who is next. Accounts take turns by start-time fair queueing (Goyal, Vin, Cheng 1996). Each account has a virtual
 * time. The account that is furthest behind goes next, and a turn moves its time on by the turn's cost. So an account
 * with 50 requests gets the share of an account with one, and an account that was away has saved up nothing.
 *
 * Within an account the request with the least left goes first (ties: the oldest). An endless stream of short requests
 * must not starve a long one: after at most PASSED_OVER_LIMIT turns that went to others, the account's oldest request
 * has one. So it has at least one turn in PASSED_OVER_LIMIT + 1.
 *
 * An account's background requests count as having more left than any other request of the account. They take the
 * oldest's turns like the rest, so other requests do not keep them waiting for ever.
 *
 * Within an account, items with a deadline go before all others, the earliest deadline first. They are no turns that
 * passed over the oldest item. An item that yields goes behind due items of other accounts.
 */
export const PASSED_OVER_LIMIT = 7;

/** More than any request has left, in each unit. */
const BACKGROUND_COST = 1e9;

/** What is left of it, by Waiting.costLeft. */
export function costLeftOf(left: number, { background }: { background: boolean }): number {
  return background ? BACKGROUND_COST + left : left;
}

export interface Waiting {
  readonly accountId: string;
  /** In the unit in which turns are charged: seconds of audio, tokens, milliseconds. */
  readonly costLeft: number;
  /** When it should be done, in any unit of time that all items share; null or absent: whenever its turn comes. */
  readonly deadline?: number | null;
  /** Whether it goes behind the items of other accounts whose turn has come; default: no. */
  readonly yields?: boolean;
}

/** An account's items and its claim: a flow, in the paper's terms. */
interface Flow<T> {
  /** In the order of arrival. */
  readonly items: Set<T>;
  virtualTime: number;
  /**
   * Number of the last turn that it had, or that was had before it came: among equals those that wait longer go first.
   */
  lastTurn: number;
  /** Turns since one went to the oldest item. */
  passedOver: number;
}

type Eligible<T> = (item: T) => boolean;

export class FairQueue<T extends Waiting> {
  private virtualNow = 0;
  private turns = 0;

  /** `longestClaim`: how far an account may fall behind without losing the claim, while it cannot take its turns. */
  constructor(
    private readonly longestClaim: number,
    private readonly flows = new Map<string, Flow<T>>(),
  ) {}

  *items(): Generator<T> {
    for (const flow of this.flows.values()) yield* flow.items;
  }

  get isEmpty(): boolean {
    return this.flows.size === 0;
  }

  add(item: T): void {
    const flow = this.flows.get(item.accountId);
    if (flow === undefined) {
      const virtualTime = this.virtualNow;
      const items = new Set([item]);
      this.flows.set(item.accountId, { items, virtualTime, lastTurn: this.turns, passedOver: 0 });
      return;
    }
    flow.items.add(item);
  }

  remove(item: T): void {
    const flow = this.flows.get(item.accountId);
    if (flow === undefined) return;
    if (first(flow.items) === item) flow.passedOver = 0;
    flow.items.delete(item);
    this.removeIdleFlows();
  }

  /** Whose turn it is among the eligible. */
  next(eligible: Eligible<T>): T | undefined {
    const chosen = this.nextByTurn(eligible);
    if (chosen?.yields !== true) return chosen;
    const isDue = (item: T): boolean =>
      item.yields !== true && item.accountId !== chosen.accountId && this.isDue(item) && eligible(item);
    return this.nextByTurn(isDue) ?? chosen;
  }

  private nextByTurn(eligible: Eligible<T>): T | undefined {
    let best: Flow<T> | undefined;
    let chosen: T | undefined;
    for (const flow of this.flows.values()) {
      if (best !== undefined && !isBefore(flow, best)) continue;
      const item = choose(flow, eligible);
      if (item === undefined) continue;
      best = flow;
      chosen = item;
    }
    return chosen;
  }

  /** Whether its turn has come: its account is not ahead of those that had theirs. */
  isDue(item: T): boolean {
    return (this.flows.get(item.accountId)?.virtualTime ?? Infinity) <= this.virtualNow;
  }

  /** Charges a turn of this item to its account. */
  charge(item: T, cost: number): void {
    const flow = this.flows.get(item.accountId);
    if (flow === undefined) return;
    const start = Math.max(flow.virtualTime, this.virtualNow - this.longestClaim);
    this.virtualNow = Math.max(this.virtualNow, start);
    flow.virtualTime = start + cost;
    flow.lastTurn = ++this.turns;
    if (first(flow.items) === item) flow.passedOver = 0;
    else if (!hasDeadline(item)) flow.passedOver += 1;
  }

  /** The turns to come if nothing changes and each costs `cost`. `eligible` is called again for each. */
  *upcoming(eligible: Eligible<T>, cost: number): Generator<T> {
    const copy = this.clone();
    for (let item = copy.next(eligible); item !== undefined; item = copy.next(eligible)) {
      copy.charge(item, cost);
      yield item;
    }
  }

  private clone(): FairQueue<T> {
    const flows = [...this.flows].map(([id, flow]) => [id, { ...flow }] as const);
    const copy = new FairQueue<T>(this.longestClaim, new Map(flows));
    copy.virtualNow = this.virtualNow;
    copy.turns = this.turns;
    return copy;
  }

  /**
   * An idle account is remembered while it is ahead of the others: otherwise it would gain by leaving and coming back.
   */
  private removeIdleFlows(): void {
    const allIdle = [...this.flows.values()].every((flow) => flow.items.size === 0);
    for (const [id, flow] of this.flows) {
      if (flow.items.size > 0) continue;
      if (allIdle || flow.virtualTime <= this.virtualNow) this.flows.delete(id);
    }
  }
}

function isBefore<T>(one: Flow<T>, other: Flow<T>): boolean {
  const difference = one.virtualTime - other.virtualTime;
  return difference === 0 ? one.lastTurn < other.lastTurn : difference < 0;
}

function choose<T extends Waiting>(flow: Flow<T>, eligible: Eligible<T>): T | undefined {
  const oldest = first(flow.items);
  if (oldest === undefined) return undefined;
  const urgent = earliest(flow, eligible);
  if (urgent !== undefined) return urgent;
  if (flow.passedOver >= PASSED_OVER_LIMIT && eligible(oldest)) return oldest;
  let best: T | undefined;
  for (const item of flow.items) {
    if ((best === undefined || item.costLeft < best.costLeft) && eligible(item)) best = item;
  }
  return best;
}

function hasDeadline({ deadline = null }: Waiting): boolean {
  return deadline !== null;
}

/** The eligible item with the earliest deadline. */
function earliest<T extends Waiting>(flow: Flow<T>, eligible: Eligible<T>): T | undefined {
  let best: T | undefined;
  for (const item of flow.items) {
    const { deadline = null } = item;
    if (deadline !== null && deadline < (best?.deadline ?? Infinity) && eligible(item)) best = item;
  }
  return best;
}

function first<T>(items: Set<T>): T | undefined {
  return items.values().next().value;
}
