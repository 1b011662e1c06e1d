/** How much audio the jobs of an account keep on the disk until they end. */
import type { JobLedger } from '../ledger/jobs.js';
import { VerbatimError } from '../errors.js';
import { bytesOf } from './stored-options.js';

export interface KeptBytesLimits {
  mostJobs: number;
  /** Of an account. */
  mostBytes: number;
}

export class KeptBytes {
  /** By account: of jobs that this server is about to accept. */
  readonly #arriving = new Map<string, number>();

  constructor(
    private readonly jobs: Pick<JobLedger, 'list'>,
    private readonly limits: KeptBytesLimits,
  ) {}

  /** Runs what keeps so many bytes. Rejects with `rate_limited` where they would be more than the account may have. */
  async within<T>(accountId: string, bytes: number, keep: () => Promise<T>): Promise<T> {
    this.#add(accountId, bytes);
    try {
      await this.#check(accountId);
      return await keep();
    } finally {
      this.#add(accountId, -bytes);
    }
  }

  async #check(accountId: string): Promise<void> {
    const { mostJobs: limit, mostBytes } = this.limits;
    const kept = new Map<string, number>();
    for (const status of ['queued', 'running'] as const) {
      const jobs = await this.jobs.list(accountId, { status, limit, after: null });
      for (const { id, options } of jobs) kept.set(id, bytesOf(options));
    }
    const bytes = [...kept.values()].reduce((sum, one) => sum + one, this.#arriving.get(accountId) ?? 0);
    if (bytes <= mostBytes) return;
    const message = `The account's jobs would keep ${bytes} bytes of audio until they end; its limit is ${mostBytes}.`;
    throw new VerbatimError('rate_limited', message);
  }

  #add(accountId: string, bytes: number): void {
    const arriving = (this.#arriving.get(accountId) ?? 0) + bytes;
    if (arriving === 0) this.#arriving.delete(accountId);
    else this.#arriving.set(accountId, arriving);
  }
}
