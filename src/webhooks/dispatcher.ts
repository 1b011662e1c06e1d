/** Empties the outbox: every event is sent until it is taken, or for a day, always under the same id. */
import { Webhook } from 'standardwebhooks';
import { pauseAfter } from '../growing-pause.js';
import type { StoredJob, TakenEvent, WebhookLedger, WorkLease } from '../ledger/jobs.js';
import type { Timer, Timers } from '../timers.js';
import { WorkTaker } from '../work-taker.js';
import { ATTEMPT_MS, type SendProblem, type WebhookSender } from './sender.js';

/** Connections, over all accounts and of one: one endpoint that hangs keeps nobody else's events. */
const MOST_AT_ONCE = 16;
const MOST_PER_ACCOUNT = 2;
const POLL_MS = 1_000;
/** Longer than any attempt. */
const LEASE_MS = 4 * ATTEMPT_MS;

/** Between attempts: 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, 5.7 h, then 6 h. */
const PAUSE = { firstMs: 5_000, growth: 4, longestMs: 6 * 3_600_000 };
/** Up to so much more or less, so that those that failed together do not come back together. */
const JITTER = 0.2;

export interface WebhookDispatcherDeps {
  ledger: WebhookLedger;
  sender: Pick<WebhookSender, 'send'>;
  /** The message of a job's event: the same at every attempt. */
  payload: (job: StoredJob) => string | Promise<string>;
  timers: Timers;
  now: () => number;
  random: () => number;
  onAttempt: (outcome: 'delivered' | 'failed') => void;
  onError: (error: unknown) => void;
}

export class WebhookDispatcher {
  readonly #timer: Timer;
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #taker: WorkTaker;

  constructor(private readonly deps: WebhookDispatcherDeps) {
    this.#taker = new WorkTaker({
      hasRoom: () => !this.#stopping.signal.aborted && this.#sending.size < MOST_AT_ONCE,
      take: () => this.#take(),
      onError: deps.onError,
    });
    this.#timer = deps.timers.every(POLL_MS, () => this.wake());
    this.wake();
  }

  /** There may be an event that is due. */
  wake(): void {
    this.#taker.wake();
  }

  /** What is on its way is broken off, and sent again by the next start. */
  async close(): Promise<void> {
    this.#timer.cancel();
    this.#stopping.abort(new Error('The server is stopping.'));
    await this.#taker.idle();
    await Promise.all(this.#sending);
  }

  async #take(): Promise<boolean> {
    const taken = await this.deps.ledger.take({ leaseMs: LEASE_MS, mostPerAccount: MOST_PER_ACCOUNT });
    if (taken !== null) this.#begin(taken);
    return taken !== null;
  }

  #begin(taken: TakenEvent): void {
    const sending: Promise<void> = this.#deliver(taken)
      .catch((error: unknown) => this.deps.onError(error))
      .finally(() => {
        this.#sending.delete(sending);
        this.wake();
      });
    this.#sending.add(sending);
  }

  async #deliver(taken: TakenEvent): Promise<void> {
    const { signal } = this.#stopping;
    try {
      const problem = await this.#attempt(taken, signal);
      await this.#note(taken.lease, problem);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #attempt({ lease: { id }, job, url, secret }: TakenEvent, signal: AbortSignal): Promise<SendProblem> {
    const { sender, payload, now } = this.deps;
    const body = await payload(job);
    const at = new Date(now());
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Verbatim-Webhooks',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    };
    return sender.send({ url, headers, body }, signal);
  }

  async #note(lease: WorkLease, outcome: SendProblem): Promise<void> {
    const { ledger, random, onAttempt } = this.deps;
    onAttempt(outcome === null ? 'delivered' : 'failed');
    if (outcome === null) await ledger.delivered(lease);
    else await ledger.failed(lease, outcome.problem, outcome.final ? null : pauseMs(lease.attempt, random));
  }
}

/** Before the next attempt. */
function pauseMs(attempts: number, random: () => number): number {
  return Math.round(pauseAfter(attempts - 1, PAUSE) * (1 + JITTER * (2 * random() - 1)));
}
