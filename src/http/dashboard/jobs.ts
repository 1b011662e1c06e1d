/**
 * The account's jobs: listed beside its history, cancelled and deleted by the same calls as the API's; never their
 * text or audio.
 */
import type { WatchedJob } from '../../jobs/job-service.js';
import { jobCursor, JobCursor, JobId, jobPlaceOf } from '../api/jobs-schema.js';
import type { HttpDeps } from '../app/deps.js';
import { readParameter } from '../schema/parameter.js';
import type { Route } from '../app/route.js';
import { endJobView, type JobsPage } from './jobs-views.js';
import { PATHS, endJobPath } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type MemberRequest, type PageReply, type PageHandlers } from './page-handlers.js';

const PER_PAGE = 20;

/** `cursor`: `older` of the page before; undefined: the newest. */
export async function jobsPage(deps: HttpDeps, accountId: string, cursor: unknown): Promise<JobsPage> {
  const given = readParameter(JobCursor, cursor, null);
  const after = given === null ? null : jobPlaceOf(given);
  const found = await deps.jobs.list(accountId, { status: null, after, limit: PER_PAGE + 1 });
  const jobs = found.slice(0, PER_PAGE);
  const last = jobs.at(-1)?.job;
  const older = found.length > PER_PAGE && last !== undefined ? jobCursor(last) : null;
  return { jobs, older, isFirst: given === null };
}

export function jobPageRoutes({ jobs }: HttpDeps, pages: PageHandlers): Route[] {
  async function jobOf({ account, exchange }: MemberRequest): Promise<WatchedJob> {
    const { id } = exchange.req.params;
    const found = JobId.fits(id) ? await jobs.find(account.id, id) : null;
    if (found === null) throw new Refusal(404, TEXTS.errors.noJob);
    return found;
  }

  async function end(request: MemberRequest, form: URLSearchParams): Promise<PageReply> {
    const { job } = await jobOf(request);
    // A request to cancel never deletes the result of a job that has just ended.
    const isCancelled = fieldOf(form, 'end') === 'cancel';
    const end = isCancelled ? jobs.cancel(request.account.id, job.id) : jobs.delete(request.account.id, job.id);
    const ended = await end;
    if (ended === null) throw new Refusal(404, TEXTS.errors.noJob);
    const { jobEnded, jobOpen } = TEXTS.errors;
    if (!ended.isDone) throw new Refusal(409, isCancelled ? jobEnded : jobOpen);
    return { to: `${PATHS.history}?notice=${isCancelled ? 'job-cancelled' : 'job-deleted'}` };
  }

  return [
    {
      path: endJobPath(`:${JobId.name}`),
      methods: {
        GET: pages.memberPage(async (request) => endJobView(await jobOf(request))),
        POST: pages.memberForm(end),
      },
    },
  ];
}
