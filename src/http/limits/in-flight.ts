/** The requests being worked on: limits by account, aborts by key, and draining. */
import { IdleSignal } from '../../idle-signal.js';
import { VerbatimError } from '../../errors.js';
import { tooManyInFlight } from '../../ledger/limits.js';
import type { Timers } from '../../timers.js';

export interface InFlightRequest {
  readonly accountId: string;
  readonly keyId: string;
  readonly signal: AbortSignal;
  /** The first reason wins: the request's work rejects with it. */
  abort(reason: Error): void;
  /** Gives the place back; idempotent. */
  end(): void;
}

export interface WatchedConnection {
  accountId: string;
  keyId: string;
  /** Its key was revoked, or its account suspended. */
  revoked: () => void;
}

/** `withinMs`: what has not ended then is aborted. */
type OnDrain = (error: VerbatimError, withinMs: number) => void;

export interface InFlightOptions {
  maxPerAccount: number;
  /** Whole seconds, at least 1, from the measured backlog. */
  retryAfterSeconds: () => number;
  timers: Timers;
}

export class InFlightRegistry {
  /** With their ids. */
  readonly #requests = new Map<InFlightRequest, string>();
  /** Live sessions, which have limits of their own, and what each does when the server drains. */
  readonly #sessions = new Map<InFlightRequest, OnDrain>();
  /** Open connections, with a session or without: they end with their key, and a drain does not wait for them. */
  readonly #connections = new Set<WatchedConnection>();
  readonly #countByAccount = new Map<string, number>();
  readonly #idle = new IdleSignal(() => this.#all.length === 0);
  #draining = false;

  constructor(private readonly options: InFlightOptions) {}

  get size(): number {
    return this.#requests.size;
  }

  /** Requests by account; accounts without any are not in it. */
  get countByAccount(): ReadonlyMap<string, number> {
    return this.#countByAccount;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Throws `shutting_down` or `rate_limited`. */
  begin({ requestId, ...owner }: { accountId: string; keyId: string; requestId: string }): InFlightRequest {
    this.assertOpen();
    const count = this.#countByAccount.get(owner.accountId) ?? 0;
    if (count >= this.options.maxPerAccount) {
      throw tooManyInFlight(count, this.options.maxPerAccount, this.options.retryAfterSeconds());
    }
    this.#countByAccount.set(owner.accountId, count + 1);
    const controller = new AbortController();
    const request: InFlightRequest = {
      ...owner,
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
      end: () => this.#end(request),
    };
    this.#requests.set(request, requestId);
    return request;
  }

  /** A live session. `onDrain`: called when the server drains; the session then ends soon. Throws `shutting_down`. */
  beginSession({ accountId, keyId, onDrain }: { accountId: string; keyId: string; onDrain: OnDrain }): InFlightRequest {
    this.assertOpen();
    const controller = new AbortController();
    const session: InFlightRequest = {
      ...{ accountId, keyId, signal: controller.signal },
      abort: (reason) => controller.abort(reason),
      end: () => {
        this.#sessions.delete(session);
        this.#idle.check();
      },
    };
    this.#sessions.set(session, onDrain);
    return session;
  }

  /** Until the function that is returned is called. */
  watchConnection(connection: WatchedConnection): () => void {
    this.#connections.add(connection);
    return () => void this.#connections.delete(connection);
  }

  get #all(): InFlightRequest[] {
    return [...this.#requests.keys(), ...this.#sessions.keys()];
  }

  /** Throws `shutting_down` while the server drains. */
  assertOpen(): void {
    if (this.#draining) throw this.#shuttingDown();
  }

  /** Its account does not want it any more. False: this server works on no such request of the account. */
  cancel(accountId: string, requestId: string): boolean {
    const found = [...this.#requests].find(([request, id]) => id === requestId && request.accountId === accountId);
    found?.[0].abort(cancelledInFlight());
    return found !== undefined;
  }

  /** Aborts everything a revoked key has in flight. */
  revokeKey(keyId: string): void {
    this.#revoke((owner) => owner.keyId === keyId);
  }

  /** Of an account that is suspended or deleted. */
  revokeAccount(accountId: string): void {
    this.#revoke((owner) => owner.accountId === accountId);
  }

  #revoke(isOf: (owner: { accountId: string; keyId: string }) => boolean): void {
    for (const request of this.#all.filter(isOf)) request.abort(revokedInFlight());
    for (const connection of [...this.#connections].filter(isOf)) connection.revoked();
  }

  keyIds(): string[] {
    return [...new Set([...this.#all, ...this.#connections].map(({ keyId }) => keyId))];
  }

  /**
   * Refuses new requests from now on and resolves when the running ones have ended. Those that still run after
   * `drainMs` are aborted with `shutting_down`, and are waited for no longer than `abortMs` more.
   */
  async drain(drainMs: number, abortMs = 5000): Promise<void> {
    this.#draining = true;
    for (const endSoon of [...this.#sessions.values()]) endSoon(this.#shuttingDown(), drainMs);
    if (await this.#idleWithin(drainMs)) return;
    for (const request of this.#all) request.abort(this.#shuttingDown());
    await this.#idleWithin(abortMs);
  }

  #end(request: InFlightRequest): void {
    if (!this.#requests.delete(request)) return;
    const left = (this.#countByAccount.get(request.accountId) ?? 1) - 1;
    if (left > 0) this.#countByAccount.set(request.accountId, left);
    else this.#countByAccount.delete(request.accountId);
    this.#idle.check();
  }

  #idleWithin(ms: number): Promise<boolean> {
    if (this.#all.length === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = this.options.timers.after(ms, () => resolve(false));
      void this.#idle.whenIdle().then(() => {
        timer.cancel();
        resolve(true);
      });
    });
  }

  #shuttingDown(): VerbatimError {
    return new VerbatimError('shutting_down', 'The server is shutting down; try again shortly.', {
      retryAfterSeconds: this.options.retryAfterSeconds(),
    });
  }
}

function cancelledInFlight(): VerbatimError {
  return new VerbatimError(
    'conflict',
    'The request was cancelled on the dashboard of its account. Nothing was charged.',
  );
}

function revokedInFlight(): VerbatimError {
  return new VerbatimError(
    'invalid_api_key',
    'The API key was revoked, or its account suspended, while the request was in flight.',
  );
}
