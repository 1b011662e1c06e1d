/** Background work: jobs, and the webhooks that report their end. */
import type { EngineStats } from '../engine/types.js';
import { JOBS_ENDPOINT } from '../http/api/jobs.js';
import { webhookPayload } from '../jobs/job-body.js';
import { JobAudio } from '../jobs/job-audio.js';
import { JobRunner } from '../jobs/job-runner.js';
import { JobService } from '../jobs/job-service.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Timers } from '../timers.js';
import type { TranscriptionService } from '../transcription/transcription.js';
import { AddressGuard } from '../webhooks/addresses.js';
import { WebhookDispatcher } from '../webhooks/dispatcher.js';
import { WebhookSender } from '../webhooks/sender.js';
import type { EndedStatus, Metrics } from '../http/monitoring/metrics.js';
import type { Logger } from './log.js';

const HOUR_MS = 3_600_000;

export interface LaterOptions {
  ledger: Ledger;
  engine: { stats(): EngineStats };
  logger: Logger;
  metrics: Pick<Metrics, 'jobEnded' | 'webhookAttempted'>;
  timers: Timers;
  clock: () => number;
  jobsDirectory: string;
  settings: { maxOpenJobs: number; maxFileBytes: number; jobRetentionHours: number; webhookAllow: readonly string[] };
}

export interface Later {
  jobs: JobService;
  guard: AddressGuard;
  /** Returns running jobs to the queue. */
  close(): Promise<void>;
}

export function startJobs(options: LaterOptions, transcription: TranscriptionService): Later {
  const { ledger, engine, logger, metrics, timers, clock, jobsDirectory, settings } = options;
  const guard = new AddressGuard(settings.webhookAllow);
  const dispatcher = new WebhookDispatcher({
    ...{ ledger: ledger.webhooks, timers, payload: webhookPayload, now: clock, random: Math.random },
    sender: new WebhookSender({ guard, timers }),
    onAttempt: (outcome) => metrics.webhookAttempted(outcome),
    onError: (err) => logger.warn({ err }, 'a webhook will be tried again'),
  });
  const audio = new JobAudio(jobsDirectory);
  const onEnd = (how: EndedStatus): void => {
    metrics.jobEnded(how);
    dispatcher.wake();
  };
  const runner = new JobRunner({
    ...{ ledger, transcription, audio, timers, onEnd, now: clock, endpoint: JOBS_ENDPOINT },
    retentionMs: settings.jobRetentionHours * HOUR_MS,
    onError: (err) => logger.error({ err }, 'a job will be tried again'),
  });
  const jobs = new JobService({
    ...{ ledger, engine, transcription, audio, runner, onEnd },
    maxOpen: settings.maxOpenJobs,
    maxKeptBytes: settings.maxOpenJobs * settings.maxFileBytes,
  });
  const close = async (): Promise<void> => {
    await runner.close();
    await dispatcher.close();
  };
  return { jobs, guard, close };
}
