/**
 * Which sentences run next. Sentences of all requests share the translators in the order of FairQueue: accounts take
 * turns, and within an account the request with the least left goes first. A turn is one batch of sentences of one
 * model and of like length, bounded in tokens so that nobody waits long. If the request does not fill its batch, like
 * sentences of others fill the room, and pay for it with their own turns.
 */
import { IdleSignal } from '../../idle-signal.js';
import type { TranslationInput, TranslationOptions, Translator } from '../binding.js';
import { costLeftOf, FairQueue, type Waiting } from '../fair-queue.js';
import { leavesSlotInDoubt } from '../native-errors.js';
import { endsInLoop, longestTranslation, NO_REPEAT_NGRAM } from './repetition.js';

/** Runs sentences: a LazyTranslationModel. */
export interface TranslatorSource {
  take(): Promise<Translator>;
  release(translator: Translator, inDoubt: boolean): void;
}

export interface TranslationWork {
  accountId: string;
  model: TranslatorSource;
  inputs: readonly TranslationInput[];
  /** Whether it takes its turns behind the account's others; default: no. */
  background?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called with each sentence as soon as it is translated, in no order; must not throw. */
  done?: ((index: number, tokens: string[]) => void) | undefined;
}

export interface TranslationObserver {
  batchDone(measurement: { sentences: number; tokensIn: number; tokensOut: number; ms: number }): void;
}

/** Source tokens of a batch, every sentence counted as long as its bucket. */
const BATCH_TOKENS = 768;
const BATCH_SENTENCES = 32;

/** How far an account may fall behind without losing the claim, in tokens. */
const LONGEST_CLAIM_TOKENS = 120;

const BEAM_SIZE = 4;

/** Sentences of one bucket may share a batch: the length limit is the bucket's, so company changes nothing. */
const BUCKETS = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];

interface Item {
  readonly job: Job;
  readonly index: number;
  readonly input: TranslationInput;
  readonly bucket: number;
  /** Decoded once already, into a loop. */
  guarded: boolean;
}

interface Batch {
  readonly items: readonly Item[];
  readonly controller: AbortController;
}

class Job implements Waiting {
  readonly accountId: string;
  readonly pending: Item[];
  readonly results: string[][] = [];
  readonly finished: Promise<void>;
  /** A batch with sentences of others failed: from now on it runs alone, so that one request fails for itself. */
  isolated = false;
  settled = false;
  private left: number;
  resolve!: () => void;
  reject!: (reason: unknown) => void;

  constructor(readonly work: TranslationWork) {
    this.accountId = work.accountId;
    this.left = work.inputs.length;
    this.pending = work.inputs.map((input, index) => ({
      job: this,
      index,
      input,
      bucket: bucketOf(input.source.length),
      guarded: false,
    }));
    this.finished = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get costLeft(): number {
    const left = this.pending.reduce((sum, item) => sum + costOf(item), 0);
    return costLeftOf(left, { background: this.work.background === true });
  }

  keep(item: Item, tokens: string[]): void {
    this.results[item.index] = tokens;
    this.left--;
    this.work.done?.(item.index, tokens);
  }

  get isDone(): boolean {
    return this.left === 0;
  }
}

export class TranslationScheduler {
  private readonly queue = new FairQueue<Job>(LONGEST_CLAIM_TOKENS);
  private readonly running = new Set<Batch>();
  private readonly drained = new IdleSignal(() => this.queue.isEmpty && this.running.size === 0);

  /** `size`: batches in flight. */
  constructor(
    readonly size: number,
    private readonly observer?: TranslationObserver,
  ) {}

  get busy(): number {
    return this.running.size;
  }

  /**
   * Resolves to the tokens of each sentence's best translation, the target prefix included. Rejects with the first
   * error, or with signal.reason at once when aborted; a batch that only aborted requests are in stops.
   */
  async run(work: TranslationWork): Promise<string[][]> {
    const { signal } = work;
    signal?.throwIfAborted();
    const job = new Job(work);
    if (job.isDone) return [];
    const onAbort = (): void => this.fail(job, signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.queue.add(job);
    this.pump();
    try {
      await job.finished;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    return job.results;
  }

  /** Resolves when no request is left and nothing runs any more. */
  whenDrained(): Promise<void> {
    return this.drained.whenIdle();
  }

  private pump(): void {
    while (this.running.size < this.size) {
      const job = this.queue.next((candidate) => candidate.pending.length > 0);
      if (job === undefined) break;
      void this.start(job, this.fill(job));
    }
    this.drained.check();
  }

  /** Takes like sentences of the job whose turn it is, then of those whose turns come next. */
  private fill(first: Job): Item[] {
    const like = first.pending[0];
    if (like === undefined) return [];
    const room = Math.max(1, Math.min(BATCH_SENTENCES, Math.floor(BATCH_TOKENS / like.bucket)));
    const items: Item[] = [];
    let job: Job | undefined = first;
    while (job !== undefined && items.length < room) {
      const taken = takeLike(job, like, room - items.length);
      items.push(...taken);
      this.queue.charge(
        job,
        taken.reduce((sum, item) => sum + costOf(item), 0),
      );
      if (first.isolated) break;
      job = this.queue.next((other) => !other.isolated && other.pending.some((item) => isLike(item, like)));
    }
    return items;
  }

  private async start({ work: { model } }: Job, items: Item[]): Promise<void> {
    const batch = { items, controller: new AbortController() };
    this.running.add(batch);
    try {
      const translator = await model.take();
      let inDoubt = true;
      try {
        await this.translate(translator, batch);
        inDoubt = false;
      } catch (error) {
        inDoubt = leavesSlotInDoubt(error);
        throw error;
      } finally {
        model.release(translator, inDoubt);
      }
    } catch (error) {
      this.failBatch(batch, error);
    }
    this.running.delete(batch);
    this.pump();
  }

  private async translate(translator: Translator, { items, controller }: Batch): Promise<void> {
    const startedAt = performance.now();
    const inputs = items.map((item) => item.input);
    const { signal } = controller;
    const { results, timings } = await translator.translate(inputs, optionsOf(items), { signal });
    const ms = performance.now() - startedAt;
    const { tokensIn, tokensOut } = timings;
    this.observer?.batchDone({ sentences: items.length, tokensIn, tokensOut, ms });
    items.forEach((item, index) => this.keep(item, results[index]?.[0]?.tokens ?? []));
  }

  private keep(item: Item, tokens: string[]): void {
    const { job } = item;
    if (job.settled) return;
    if (!item.guarded && endsInLoop(tokens) && !endsInLoop(item.input.source)) {
      item.guarded = true;
      job.pending.push(item);
      return;
    }
    job.keep(item, tokens);
    if (!job.isDone) return;
    job.settled = true;
    this.queue.remove(job);
    job.resolve();
  }

  private failBatch({ items }: Batch, error: unknown): void {
    const jobs = new Set(items.map((item) => item.job).filter((job) => !job.settled));
    for (const job of jobs) {
      if (jobs.size === 1) {
        this.fail(job, error);
        continue;
      }
      job.isolated = true;
      job.pending.push(...items.filter((item) => item.job === job));
    }
  }

  private fail(job: Job, reason: unknown): void {
    if (job.settled) return;
    job.settled = true;
    this.queue.remove(job);
    for (const { items, controller } of this.running) {
      if (items.every((item) => item.job.settled)) controller.abort();
    }
    job.reject(reason);
    this.pump();
  }
}

function takeLike(job: Job, like: Item, most: number): Item[] {
  const taken = job.pending.filter((item) => isLike(item, like)).slice(0, most);
  for (const item of taken) job.pending.splice(job.pending.indexOf(item), 1);
  return taken;
}

function isLike(one: Item, other: Item): boolean {
  return one.job.work.model === other.job.work.model && one.bucket === other.bucket && one.guarded === other.guarded;
}

function optionsOf(items: readonly Item[]): TranslationOptions {
  const [first] = items;
  return {
    beamSize: BEAM_SIZE,
    replaceUnknowns: true,
    maxInputLength: 0,
    maxDecodingLength: longestTranslation(first?.bucket ?? 0),
    maxBatchSize: items.length,
    ...(first?.guarded === true ? { noRepeatNgramSize: NO_REPEAT_NGRAM } : {}),
  };
}

function costOf({ input }: Item): number {
  return Math.max(1, input.source.length);
}

function bucketOf(length: number): number {
  return BUCKETS.find((bucket) => length <= bucket) ?? length;
}
