/** Notices keys that another process (the CLI, another node) revoked while they have requests in flight here. */
import type { Ledger } from '../ledger/types.js';
import type { InFlightRegistry } from './in-flight.js';

export interface RevocationWatchOptions {
  ledger: Pick<Ledger, 'revokedAmong'>;
  inFlight: InFlightRegistry;
  intervalMs?: number;
  onError: (error: unknown) => void;
}

export class RevocationWatch {
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: RevocationWatchOptions) {
    this.#timer = setInterval(() => this.#look(), options.intervalMs ?? 250);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { inFlight, ledger, onError } = this.options;
    if (inFlight.size === 0) return;
    try {
      for (const keyId of ledger.revokedAmong(inFlight.keyIds())) inFlight.revokeKey(keyId);
    } catch (error) {
      // A locked database must not stop the watch: the settlement checks the key once more.
      onError(error);
    }
  }
}
