/**
 * Works on jobs as the ledger hands them out, a few of each account at once. The engine decides whose windows go first.
 * Work can break off without the job's fault: a full disk, a stop of the server, its death. Then the job stays in the
 * queue, with its credits held. Only the job's own end charges or releases them.
 */
import { EngineBreakingError, VerbatimError } from '../errors.js';
import { pauseAfter, PauseLength, Pauses } from '../growing-pause.js';
import type { JobLedger, JobError, JobSettlement, TakenJob, WorkLease } from '../ledger/jobs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Timer, Timers } from '../timers.js';
import type { KeepNow } from '../transcription/keep.js';
import { requestError } from '../transcription/request-errors.js';
import { resultText } from '../transcription/result.js';
import type { TranscriptionService } from '../transcription/transcription.js';
import { WorkTaker } from '../work-taker.js';
import type { JobAudio } from './job-audio.js';
import { keepOf, optionsOf, sha256Of } from './stored-options.js';

/** Files that are open in the background, over all accounts. */
const MOST_AT_ONCE = 64;
/** Enough short files of one account to fill a batch; its long ones wait for each other. */
const MOST_PER_ACCOUNT = 8;

/** A server that dies is missed after this long, where nothing reports it sooner. */
const LEASE_MS = 30_000;
const RENEW_MS = 7_500;
/** How often the runner looks for jobs that it was not notified of: put back, or left by a dead server. */
const POLL_MS = 1_000;
const HOUSEKEEPING_MS = 600_000;

/** A job at which servers die is not tried for ever, nor one whose work fails in a server that lives. */
const MOST_INTERRUPTIONS = 20;
const MOST_FAILURES = 3;
/** A run that takes longer is stuck. */
const LONGEST_RUN_MS = 24 * 3_600_000;
const PAUSE = { firstMs: 1_000, longestMs: 60_000 };

export interface JobRunnerDeps {
  ledger: Pick<Ledger, 'jobs' | 'keys'>;
  transcription: Pick<TranscriptionService, 'perform'>;
  audio: JobAudio;
  timers: Timers;
  retentionMs: number;
  now: () => number;
  /** The path that usage is booked under. */
  endpoint: string;
  /** A job has ended, here: its event is due. */
  onEnd: (how: 'succeeded' | 'failed') => void;
  /** Called with the error of what failed and will be retried. */
  onError: (error: unknown) => void;
}

/** Why work is broken off. */
type Break = 'lost' | 'stopping' | 'revoked' | 'stuck';

class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
  constructor(readonly why: Break) {
    super(`The work was broken off: ${why}.`);
  }
}

interface RunningJob {
  lease: WorkLease;
  keyId: string;
  controller: AbortController;
  doneSeconds: number;
  /** Resolves when nothing of it is left to be done here. */
  work?: Promise<void>;
}

interface TranscribedJob {
  settlement: JobSettlement;
  /** null: the transcript is not kept. */
  keepNow: KeepNow | null;
}

/** The next state of a job. */
type Ending =
  | ({ kind: 'succeeded' } & TranscribedJob)
  | { kind: 'failed'; error: JobError }
  | { kind: 'again'; pauseMs: number; interrupted: boolean }
  | { kind: 'lost' };

export class JobRunner {
  readonly #running = new Map<string, RunningJob>();
  readonly #timers: Timer[];
  readonly #pauses: Pauses;
  readonly #work = new Set<Promise<void>>();
  readonly #taker: WorkTaker;
  readonly #unsubscribe: () => void;
  #stopping = false;

  constructor(private readonly deps: JobRunnerDeps) {
    const { timers } = deps;
    this.#pauses = new Pauses(timers);
    this.#taker = new WorkTaker({
      hasRoom: () => !this.#stopping && this.#running.size < MOST_AT_ONCE,
      take: () => this.#take(),
      onError: deps.onError,
    });
    this.#timers = [
      timers.every(POLL_MS, () => {
        this.wake();
        void this.#quietly(() => this.#breakOffRevoked());
      }),
      timers.every(RENEW_MS, () => void this.#quietly(() => this.#renew())),
      timers.every(HOUSEKEEPING_MS, () => void this.#quietly(() => this.#runHousekeeping())),
    ];
    this.#unsubscribe = deps.ledger.keys.onRevoked((keyId) => this.#breakOffThoseOf([keyId]));
    void this.#quietly(() => this.#runHousekeeping());
    this.wake();
  }

  get size(): number {
    return this.#running.size;
  }

  /** Seconds of a job's audio that lie behind; null: it does not run here. */
  doneSeconds(id: string): number | null {
    return this.#running.get(id)?.doneSeconds ?? null;
  }

  /** Of a job that has ended: resolves when its transcript is kept, if this server does it now. */
  async untilKept(id: string): Promise<void> {
    await this.#running.get(id)?.work;
  }

  /** There may be a job to take. */
  wake(): void {
    this.#taker.wake();
  }

  /** Of a job that was cancelled: its lease is gone. */
  breakOff(id: string): void {
    this.#running.get(id)?.controller.abort(new BrokenOff('lost'));
  }

  /** Running jobs go back into the queue. */
  async close(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) timer.cancel();
    this.#unsubscribe();
    for (const { controller } of this.#running.values()) controller.abort(new BrokenOff('stopping'));
    this.#pauses.wake();
    await this.#taker.idle();
    await Promise.all(this.#work);
  }

  async #take(): Promise<boolean> {
    const taken = await this.deps.ledger.jobs.take({ leaseMs: LEASE_MS, mostPerAccount: MOST_PER_ACCOUNT });
    if (taken !== null) this.#begin(taken);
    return taken !== null;
  }

  #begin(taken: TakenJob): void {
    const { lease, job } = taken;
    const running: RunningJob = { lease, keyId: job.keyId, controller: new AbortController(), doneSeconds: 0 };
    this.#running.set(job.id, running);
    if (this.#stopping) running.controller.abort(new BrokenOff('stopping'));
    const work: Promise<void> = this.#quietly(() => this.#carryOut(taken, running)).finally(() => {
      // A job whose lease lapsed may have been taken here once more.
      if (this.#running.get(job.id) === running) this.#running.delete(job.id);
      this.#work.delete(work);
      this.wake();
    });
    this.#work.add(work);
    running.work = work;
  }

  async #carryOut(taken: TakenJob, running: RunningJob): Promise<void> {
    const ending = await this.#perform(taken, running);
    if (ending.kind === 'lost' || !(await this.#write(running.lease, ending))) return;
    if (ending.kind === 'again') return;
    // Finished, and paid for. What cannot be kept now is not tried again: the job has ended.
    if (ending.kind === 'succeeded') await ending.keepNow?.();
    await this.deps.audio.remove(taken.job.id);
    this.deps.onEnd(ending.kind);
  }

  async #perform(taken: TakenJob, running: RunningJob): Promise<Ending> {
    const { controller } = running;
    const stuck = this.deps.timers.after(LONGEST_RUN_MS, () => controller.abort(new BrokenOff('stuck')));
    try {
      return { kind: 'succeeded', ...(await this.#transcribe(taken, running)) };
    } catch (error) {
      return await this.#endingOf(controller.signal.aborted ? controller.signal.reason : error, taken);
    } finally {
      stuck.cancel();
    }
  }

  async #transcribe({ job, interruptions }: TakenJob, running: RunningJob): Promise<TranscribedJob> {
    const { ledger, transcription, audio } = this.deps;
    const { signal } = running.controller;
    if (interruptions >= MOST_INTERRUPTIONS) throw new Error(`Work on it broke off ${interruptions} times.`);
    const revoked = await ledger.keys.revokedAmong([job.keyId]);
    if (revoked.length > 0) throw new BrokenOff('revoked');
    const { id, accountId, audioSeconds: durationSeconds } = job;
    signal.throwIfAborted();
    const sha256 = sha256Of(job.options);
    const file = { path: audio.path(id), ...(sha256 === undefined ? {} : { sha256 }) };
    const bill = await transcription.perform(
      { requestId: id, accountId, options: optionsOf(job.options), keep: keepOf(job.options), signal, audio: file },
      { durationSeconds, onProgress: (seconds) => (running.doneSeconds = seconds) },
    );
    const { credits, audioSeconds, minutes, uncharged, keepNow } = bill;
    const settlement = {
      ...{ credits, audioSeconds, minutes, endpoint: this.deps.endpoint },
      ...{ transcriptionId: uncharged.id, language: uncharged.language, model: uncharged.model },
      result: await resultText(uncharged),
    };
    return { settlement, keepNow };
  }

  async #endingOf(error: unknown, { job, interruptions }: TakenJob): Promise<Ending> {
    if (error instanceof BrokenOff && error.why === 'lost') return { kind: 'lost' };
    if (error instanceof BrokenOff && error.why === 'stopping') {
      return { kind: 'again', pauseMs: 0, interrupted: false };
    }
    const failure = error instanceof BrokenOff && error.why === 'revoked' ? revokedKey() : requestError(error);
    const { code, message, param, retryAfterSeconds } = failure;
    if (code === 'shutting_down' || code === 'overloaded') {
      const pauseMs = retryAfterSeconds === null ? PAUSE.longestMs : retryAfterSeconds * 1000;
      return { kind: 'again', pauseMs: Math.min(pauseMs, PAUSE.longestMs), interrupted: false };
    }
    if (code === 'internal_error') this.deps.onError(error);
    const isHopeless = error instanceof EngineBreakingError || interruptions >= MOST_FAILURES;
    const mayHelp = code === 'internal_error' && !isHopeless;
    if (mayHelp && (await this.deps.audio.has(job.id))) {
      return { kind: 'again', pauseMs: pauseAfter(interruptions, PAUSE), interrupted: true };
    }
    return { kind: 'failed', error: { code, message, param } };
  }

  /** Until it is written: finished work is not lost to a disk that is full for a while. False: the lease has lapsed. */
  async #write(lease: WorkLease, ending: Exclude<Ending, { kind: 'lost' }>): Promise<boolean> {
    const { jobs } = this.deps.ledger;
    const length = new PauseLength(PAUSE);
    for (;;) {
      try {
        return await write(jobs, lease, ending);
      } catch (error) {
        if (error instanceof VerbatimError && error.code === 'invalid_api_key') {
          const { code, message, param } = revokedKey();
          ending = { kind: 'failed', error: { code, message, param } };
          continue;
        }
        this.deps.onError(error);
        // The job is put back when the ledger closes, or by its lease.
        if (this.#stopping) return false;
        await this.#pauses.pause(length.next());
      }
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#running.values()];
    if (held.length === 0) return;
    const lost = new Set(await this.deps.ledger.jobs.renew(held, LEASE_MS));
    for (const { lease, controller } of held) {
      if (lost.has(lease.id)) controller.abort(new BrokenOff('lost'));
    }
  }

  async #breakOffRevoked(): Promise<void> {
    const running = [...this.#running.values()];
    if (running.length === 0) return;
    const keys = [...new Set(running.map(({ keyId }) => keyId))];
    this.#breakOffThoseOf(await this.deps.ledger.keys.revokedAmong(keys));
  }

  #breakOffThoseOf(keyIds: readonly string[]): void {
    for (const { keyId, controller } of this.#running.values()) {
      if (keyIds.includes(keyId)) controller.abort(new BrokenOff('revoked'));
    }
  }

  async #runHousekeeping(): Promise<void> {
    const { ledger, audio, retentionMs, now } = this.deps;
    while (!this.#stopping && (await ledger.jobs.deleteEnded(retentionMs)));
    await audio.sweep((ids) => ledger.jobs.knownAmong(ids), now());
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.deps.onError(error);
    }
  }
}

function write(jobs: JobLedger, lease: WorkLease, ending: Exclude<Ending, { kind: 'lost' }>): Promise<boolean> {
  if (ending.kind === 'succeeded') return jobs.succeed(lease, ending.settlement);
  if (ending.kind === 'failed') return jobs.fail(lease, ending.error);
  return jobs.putBack(lease, ending);
}

function revokedKey(): VerbatimError {
  return new VerbatimError(
    'invalid_api_key',
    'The API key was revoked, or its account suspended, before the job was done.',
  );
}
