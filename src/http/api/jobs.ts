/** /jobs: transcriptions that are answered later. */
import { VerbatimError } from '../../errors.js';
import { jobBody } from '../../jobs/job-body.js';
import type { WatchedJob, WebhookTarget } from '../../jobs/job-service.js';
import { jsonBytes } from '../../transcription/json-pieces.js';
import { checkWebhookSecret, checkWebhookUrl, MOST_URL_CHARACTERS, newWebhookSecret } from '../../webhooks/target.js';
import { authenticated } from '../auth/auth.js';
import type { HttpDeps } from '../app/deps.js';
import { JSON_TYPE } from '../app/exchange.js';
import { headerOf, Location } from '../schema/headers.js';
import { readIdempotencyKey } from '../app/idempotency-key.js';
import { readParameter } from '../schema/parameter.js';
import type { Handler, Route } from '../app/route.js';
import { invalid } from '../schema/shape.js';
import { IdempotencyReplayed } from '../transcripts/transcription-headers.js';
import { inFlight, refuseEarly, type AskedWork, type Dialect } from '../transcripts/transcription-route.js';
import {
  acceptedJobBody,
  DEFAULT_JOB_LIMIT,
  JobCursor,
  JobId,
  JobLimit,
  jobListBody,
  JobStatusFilter,
  jobPlaceOf,
} from './jobs-schema.js';
import { parseKeep, parseOptions, TEXT_FIELDS } from './transcribe-fields.js';

export const JOBS_ENDPOINT = '/api/v1/jobs';

interface AskedJob extends AskedWork {
  webhook: WebhookTarget | null;
}

const MOST_SECRET_CHARACTERS = 128;

const FIELDS: ReadonlyMap<string, number> = new Map([
  ...TEXT_FIELDS,
  ['webhook_url', MOST_URL_CHARACTERS],
  ['webhook_secret', MOST_SECRET_CHARACTERS],
]);

export function jobRoutes(deps: HttpDeps): Route[] {
  return [
    { path: JOBS_ENDPOINT, methods: { GET: list(deps), POST: create(deps) } },
    { path: `${JOBS_ENDPOINT}/:${JobId.name}`, methods: { GET: find(deps), DELETE: end(deps) } },
  ];
}

function create(deps: HttpDeps): Handler {
  const dialect: Dialect<AskedJob> = {
    path: JOBS_ENDPOINT,
    form: { fileField: 'audio', textFields: FIELDS },
    asked: ({ one }) => ({ options: parseOptions(one), keep: parseKeep(one), webhook: webhookOf(one, deps) }),
    source: 'job',
    idempotencyKey: readIdempotencyKey,
    checkRoom: (accountId) => deps.jobs.checkRoom(accountId),
  };
  return authenticated(deps, async (exchange, identity) => {
    const repeatable = await refuseEarly(deps, dialect, exchange, identity);
    const intake = { exchange, identity, repeatable };
    const { outcome } = await inFlight(deps, dialect, intake, async (request, { webhook }) => ({
      ...(await deps.jobs.create({ ...request, webhook })),
      model: request.options.model,
    }));
    const { accepted, replayed, model } = outcome;
    if (model !== null) exchange.facts.model = model;
    if (replayed) exchange.facts.replayed = true;
    exchange.facts.jobId = accepted.id;
    exchange.json(202, acceptedJobBody(accepted), {
      ...headerOf(Location, `${JOBS_ENDPOINT}/${accepted.id}`),
      ...(replayed ? headerOf(IdempotencyReplayed, 'true') : {}),
    });
  });
}

function webhookOf(fields: ReadonlyMap<string, string>, { webhookGuard }: HttpDeps): WebhookTarget | null {
  const url = fields.get('webhook_url');
  const secret = fields.get('webhook_secret');
  if (url === undefined) {
    if (secret === undefined) return null;
    throw invalid('webhook_secret', 'webhook_secret needs webhook_url.');
  }
  return {
    url: checkWebhookUrl(url, webhookGuard),
    secret: secret === undefined ? newWebhookSecret() : checkWebhookSecret(secret),
    isNew: secret === undefined,
  };
}

function list(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    const { query } = exchange.req;
    const status = readParameter(JobStatusFilter, query[JobStatusFilter.name], null);
    const limit = readParameter(JobLimit, query[JobLimit.name], DEFAULT_JOB_LIMIT);
    const cursor = readParameter(JobCursor, query[JobCursor.name], null);
    const after = cursor === null ? null : jobPlaceOf(cursor);
    const jobs = await deps.jobs.list(account.id, { status, after, limit: limit + 1 });
    exchange.json(200, await jobListBody(jobs, limit));
  });
}

function find(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    const id = exchange.req.params[JobId.name];
    const job = JobId.fits(id) ? await deps.jobs.find(account.id, id) : null;
    exchange.send(200, JSON_TYPE, await jsonBytes(await jobBody(known(job))));
  });
}

function end(deps: HttpDeps): Handler {
  return authenticated(deps, async (exchange, { account }) => {
    const id = exchange.req.params[JobId.name];
    const job = JobId.fits(id) ? await deps.jobs.cancelOrDelete(account.id, id) : null;
    exchange.send(200, JSON_TYPE, await jsonBytes(await jobBody(known(job))));
  });
}

function known(job: WatchedJob | null): WatchedJob {
  if (job !== null) return job;
  throw new VerbatimError('job_not_found', 'The account has no job with this id.');
}
