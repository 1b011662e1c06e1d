/** The connection on which the database reports revoked keys, whichever server revoked them. */
import { Client } from 'pg';
import { GrowingPause } from '../../growing-pause.js';
import type { Timer, Timers } from '../../timers.js';
import { connectionConfig } from './connections.js';

const PAUSE = { firstMs: 100, longestMs: 5_000 };
/** A connection that is cut reports nothing, so it is probed now and then. */
const PROBE_MS = 5_000;
const PROBE_TIMEOUT_MS = 2_000;

/** The channel on which the database notifies servers of a revoked key. */
export const REVOKED_CHANNEL = 'verbatim_revoked';

/** While there is no connection it reports nothing. Callers poll as well. */
export class Revocations {
  readonly #listeners = new Set<(keyId: string) => void>();
  #client: Client | null = null;
  readonly #pause: GrowingPause;
  #probe: Timer | null = null;
  #ended = false;

  constructor(
    private readonly url: string,
    private readonly timers: Timers,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#pause = new GrowingPause(timers, PAUSE);
  }

  /** Returns what ends it. */
  listen(listener: (keyId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when it listens, or will try again. */
  async start(): Promise<void> {
    const client = new Client(connectionConfig(this.url));
    this.#client = client;
    client.on('error', () => undefined);
    client.on('notification', ({ payload }) => this.#notify(payload ?? ''));
    client.on('end', () => this.#lost(client));
    try {
      await client.connect();
      await client.query(`LISTEN ${REVOKED_CHANNEL}`);
      this.#pause.end();
      this.#probe = this.timers.every(PROBE_MS, () => void this.#ask(client));
    } catch (error) {
      this.onError(error);
      this.#lost(client);
    }
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#pause.end();
    this.#probe?.cancel();
    const client = this.#client;
    this.#client = null;
    if (client === null) return;
    client.end().catch(() => undefined);
    // A server that does not answer is not waited for.
    await Promise.resolve();
  }

  #notify(keyId: string): void {
    for (const listener of this.#listeners) listener(keyId);
  }

  async #ask(client: Client): Promise<void> {
    const question = { text: 'SELECT 1', query_timeout: PROBE_TIMEOUT_MS };
    await client.query(question).catch((error: unknown) => {
      if (this.#client !== client) return;
      this.onError(error);
      this.#lost(client);
    });
  }

  #lost(client: Client): void {
    if (this.#client !== client || this.#ended) return;
    this.#client = null;
    this.#probe?.cancel();
    client.end().catch(() => undefined);
    this.#pause.begin(() => void this.start());
  }
}
