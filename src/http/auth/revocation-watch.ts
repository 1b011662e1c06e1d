/**
 * Notices keys that another process (the CLI, another node) revoked while they have requests in flight here: where the
 * ledger is notified of it, at once.
 */
import type { Ledger } from '../../ledger/ledger.js';
import type { Timer, Timers } from '../../timers.js';
import type { InFlightRegistry } from '../limits/in-flight.js';

/** A revoked key's requests end within a second. */
export const REVOCATION_LOOK_MS = 250;

export interface RevocationWatchOptions {
  ledger: Pick<Ledger, 'keys'>;
  inFlight: InFlightRegistry;
  timers: Timers;
  onError: (error: unknown) => void;
}

export class RevocationWatch {
  readonly #timer: Timer;
  readonly #unsubscribe: () => void;
  #looking = false;

  constructor(private readonly options: RevocationWatchOptions) {
    this.#timer = options.timers.every(REVOCATION_LOOK_MS, () => void this.#look());
    this.#unsubscribe = options.ledger.keys.onRevoked((keyId) => options.inFlight.revokeKey(keyId));
  }

  close(): void {
    this.#timer.cancel();
    this.#unsubscribe();
  }

  async #look(): Promise<void> {
    const { inFlight, ledger, onError } = this.options;
    const keyIds = inFlight.keyIds();
    if (keyIds.length === 0 || this.#looking) return;
    this.#looking = true;
    try {
      for (const keyId of await ledger.keys.revokedAmong(keyIds)) inFlight.revokeKey(keyId);
    } catch (error) {
      // A locked database must not stop the watch: the settlement checks the key once more.
      onError(error);
    } finally {
      this.#looking = false;
    }
  }
}
