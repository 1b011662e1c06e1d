/** The account's jobs: listed beside its history, cancelled and forgotten by the same calls as the API's; never their text or audio. */
import type { WatchedJob } from '../../jobs/job-service.js';
import { jobCursor, JobCursor, JobId, jobPlaceOf } from '../api/jobs-schema.js';
import type { HttpDeps } from '../deps.js';
import { readParameter } from '../parameter.js';
import type { Route } from '../route.js';
import { endJobView } from './jobs-views.js';
import { PATHS, endJobPath } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type MemberVisit, type PageReply, type Visits } from './visits.js';

const PER_PAGE = 20;

export interface JobsPage {
  jobs: readonly WatchedJob[];
  /** null: there are no older ones. */
  older: string | null;
  isFirst: boolean;
}

/** `cursor`: what the page before said is `older`; undefined: the newest. */
export async function jobsPage(deps: HttpDeps, accountId: string, cursor: unknown): Promise<JobsPage> {
  const given = readParameter(JobCursor, cursor, null);
  const after = given === null ? null : jobPlaceOf(given);
  const found = await deps.jobs.list(accountId, { status: null, after, limit: PER_PAGE + 1 });
  const jobs = found.slice(0, PER_PAGE);
  const last = jobs.at(-1)?.job;
  const older = found.length > PER_PAGE && last !== undefined ? jobCursor(last) : null;
  return { jobs, older, isFirst: given === null };
}

export function jobPageRoutes({ jobs }: HttpDeps, visits: Visits): Route[] {
  async function jobOf({ account, exchange }: MemberVisit): Promise<WatchedJob> {
    const { id } = exchange.req.params;
    const found = JobId.fits(id) ? await jobs.find(account.id, id) : null;
    if (found === null) throw new Refusal(404, TEXTS.errors.noJob);
    return found;
  }

  async function end(visit: MemberVisit, form: URLSearchParams): Promise<PageReply> {
    const { job } = await jobOf(visit);
    // Whoever wants to stop it does not want its result to be gone.
    const isCancelled = fieldOf(form, 'end') === 'cancel';
    const end = isCancelled ? jobs.cancel(visit.account.id, job.id) : jobs.forget(visit.account.id, job.id);
    const ended = await end;
    if (ended === null) throw new Refusal(404, TEXTS.errors.noJob);
    const { jobEnded, jobOpen } = TEXTS.errors;
    if (!ended.isDone) throw new Refusal(409, isCancelled ? jobEnded : jobOpen);
    return { to: `${PATHS.history}?notice=${isCancelled ? 'job-cancelled' : 'job-forgotten'}` };
  }

  return [
    {
      path: endJobPath(`:${JobId.name}`),
      methods: {
        GET: visits.memberPage(async (visit) => endJobView(await jobOf(visit))),
        POST: visits.memberForm(end),
      },
    },
  ];
}
