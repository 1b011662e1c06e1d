/**
 * The audio that is admitted and not yet transcribed. Decides who is refused when it grows.
 *
 * `maxSeconds` is M. Of n accounts that have audio in the backlog, the one that asks included, a request is admitted if
 * with it there would be
 *
 * - at most M seconds in all; or
 * - at most 3/2 M, where its account has nothing else in the backlog, however long the file is; or
 * - at most 4 M, where its account would have no more than its fair share, M / n.
 *
 * So accounts that hold more than their share are refused first, and an account that holds less is admitted beside
 * them. A long file of an account that has no other is not refused because of others' short ones. An empty backlog
 * takes a file of any length: one longer than the bound would otherwise never be served.
 *
 * Apart from such a file there are never more than 4 M seconds, and only many accounts get there. When the k-th account
 * was admitted by its share, at least k accounts were there, so shares add up to at most M (1 + 1/2 + ... + 1/k). Audio
 * that is admitted by a share is done after M seconds of audio, since turns are fair.
 */
import { VerbatimError } from '../errors.js';
import { amountByAccount, doneWhenServed } from './fair-share.js';

/** An account's audio in the backlog. */
export interface AccountBacklog {
  accountId: string;
  requests: number;
  /** Seconds not yet transcribed, without background requests. */
  seconds: number;
  /** Seconds of background requests. */
  backgroundSeconds: number;
}

export interface BacklogStats {
  /** Seconds of admitted audio not yet transcribed, without background requests. */
  backlogSeconds: number;
  maxBacklogSeconds: number;
  /** Whole seconds until the backlog is worked off at the measured speed, at least 1. */
  retryAfterSeconds: number;
  /** Of the twenty accounts with most of it, those with the most seconds first. */
  backlogByAccount: readonly AccountBacklog[];
}

export interface BacklogOptions {
  maxSeconds: number;
  /** Processing seconds of the whole box per second of audio. */
  realTimeFactor: () => number;
}

/** A request's audio in the backlog. Audio that has been transcribed no longer counts. Releasing it is idempotent. */
export class BacklogPlace {
  private left: number;

  constructor(
    readonly accountId: string,
    readonly audioSeconds: number,
    readonly background: boolean,
    private readonly onLess: (place: BacklogPlace) => void,
  ) {
    this.left = audioSeconds;
  }

  get audioLeftSeconds(): number {
    return this.left;
  }

  /** So many of its seconds are transcribed, or silence. */
  setDone(seconds: number): void {
    this.left = Math.max(0, this.audioSeconds - seconds);
  }

  release(): void {
    this.left = 0;
    this.onLess(this);
  }
}

/** An account that asks, and the seconds of each account's audio that is left. */
interface AdmissionState {
  accountId: string;
  audioSeconds: number;
  held: ReadonlyMap<string, number>;
}

interface ReadmittedRequest {
  accountId: string;
  audioSeconds: number;
  /** Behind the account's others. It takes no room from them; its caller limits how many there are. */
  background?: boolean;
}

/** Halving an interval of a year of audio this often leaves less than a millisecond. */
const BISECTIONS = 36;

const MOST_LISTED_ACCOUNTS = 20;

const weight = ({ seconds, backgroundSeconds }: AccountBacklog): number => seconds + backgroundSeconds;

export class Backlog {
  private readonly places = new Set<BacklogPlace>();

  constructor(private readonly options: BacklogOptions) {}

  stats(): BacklogStats {
    return {
      backlogSeconds: this.seconds,
      maxBacklogSeconds: this.options.maxSeconds,
      retryAfterSeconds: this.retryAfterSeconds,
      backlogByAccount: this.byAccount,
    };
  }

  /** Without background requests. */
  get seconds(): number {
    return sum(this.heldByAccount().values());
  }

  /** Those with the most seconds first, twenty at most. */
  get byAccount(): AccountBacklog[] {
    const found = new Map<string, AccountBacklog>();
    for (const { accountId, audioLeftSeconds, background } of this.places) {
      const of = found.get(accountId) ?? { accountId, requests: 0, seconds: 0, backgroundSeconds: 0 };
      of.requests += 1;
      of[background ? 'backgroundSeconds' : 'seconds'] += audioLeftSeconds;
      found.set(accountId, of);
    }
    return [...found.values()].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_LISTED_ACCOUNTS);
  }

  /** Whole seconds until all of it is worked off, at least 1. */
  get retryAfterSeconds(): number {
    return this.secondsFor(this.seconds);
  }

  /** Throws VerbatimError `overloaded` when there is no room, with the seconds after which there will be. */
  admit(request: { accountId: string; audioSeconds: number }): BacklogPlace {
    this.checkRoom(request);
    return this.readmit(request);
  }

  /** Throws as admit() does, and takes nothing in. */
  checkRoom(request: { accountId: string; audioSeconds: number }): void {
    const state = { ...request, held: this.heldByAccount() };
    if (this.hasRoom(state)) return;
    throw new VerbatimError('overloaded', 'The backlog is full. Try again after the seconds in Retry-After.', {
      retryAfterSeconds: this.retryAfter(state),
    });
  }

  /** Takes a request in once more that was admitted before, room or not. */
  readmit({ accountId, audioSeconds, background = false }: ReadmittedRequest): BacklogPlace {
    if (!(audioSeconds >= 0 && Number.isFinite(audioSeconds))) {
      throw new RangeError(`audioSeconds is ${audioSeconds}; allowed: 0 or more, finite.`);
    }
    const place = new BacklogPlace(accountId, audioSeconds, background, (released) => this.places.delete(released));
    this.places.add(place);
    return place;
  }

  private heldByAccount(): Map<string, number> {
    const counted = [...this.places].filter(({ audioLeftSeconds, background }) => audioLeftSeconds > 0 && !background);
    return amountByAccount(counted.map(({ accountId, audioLeftSeconds }) => ({ accountId, amount: audioLeftSeconds })));
  }

  private hasRoom({ accountId, audioSeconds, held }: AdmissionState): boolean {
    const waiting = sum(held.values());
    const own = held.get(accountId) ?? 0;
    const accounts = held.size + (own > 0 ? 0 : 1);
    const { maxSeconds } = this.options;
    const most = own + audioSeconds <= maxSeconds / accounts ? 4 : own === 0 ? 1.5 : 1;
    return waiting === 0 || !(waiting + audioSeconds > most * maxSeconds);
  }

  /**
   * Accounts take turns: when each has had `served` seconds of its audio transcribed, or all of it, this much of the
   * backlog is worked off. The least with which there is room, were nothing else to come.
   */
  private retryAfter(state: AdmissionState): number {
    let tooLittle = 0;
    let enough = Math.max(...state.held.values());
    for (let n = 0; n < BISECTIONS; n++) {
      const served = (tooLittle + enough) / 2;
      if (this.hasRoom({ ...state, held: afterServing(state.held, served) })) enough = served;
      else tooLittle = served;
    }
    return this.secondsFor(doneWhenServed(state.held.values(), enough));
  }

  private secondsFor(audioSeconds: number): number {
    // What is a hair above a whole second comes from the halving.
    return Math.max(1, Math.ceil(audioSeconds * this.options.realTimeFactor() - 1e-3));
  }
}

function afterServing(held: ReadonlyMap<string, number>, served: number): Map<string, number> {
  return new Map([...held].map(([id, left]) => [id, left - served] as const).filter(([, left]) => left > 0));
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
