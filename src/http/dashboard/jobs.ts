/** A job of the account: its result and its end, by the same calls as the API's. */
import { jobBody } from '../../jobs/job-body.js';
import type { WatchedJob } from '../../jobs/job-service.js';
import { answerText } from '../../transcription/answer-text.js';
import { jsonText } from '../../transcription/json-pieces.js';
import { resultOf, type TranscriptionResult } from '../../transcription/result.js';
import { JobId } from '../api/jobs-schema.js';
import type { HttpDeps } from '../app/deps.js';
import { JSON_TYPE } from '../app/exchange.js';
import type { Route } from '../app/route.js';
import { endJobView, hasFormat, jobView, RESULT_FORMATS, type ResultFormat } from './jobs-views.js';
import { endJobPath, jobDownloadPath, jobPath, PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { fieldOf, type Download, type MemberRequest, type PageReply, type PageHandlers } from './page-handlers.js';

const FILES: Readonly<Record<ResultFormat, { type: string; ending: string }>> = {
  text: { type: 'text/plain; charset=utf-8', ending: 'txt' },
  srt: { type: 'application/x-subrip; charset=utf-8', ending: 'srt' },
  vtt: { type: 'text/vtt; charset=utf-8', ending: 'vtt' },
  json: { type: JSON_TYPE, ending: 'json' },
};

export function jobPageRoutes({ jobs }: HttpDeps, pages: PageHandlers): Route[] {
  async function jobOf({ account, exchange }: MemberRequest): Promise<WatchedJob> {
    const { id } = exchange.req.params;
    const found = JobId.fits(id) ? await jobs.find(account.id, id) : null;
    if (found === null) throw new Refusal(404, TEXTS.errors.noJob);
    return found;
  }

  async function show(request: MemberRequest): Promise<PageReply> {
    const watched = await jobOf(request);
    return jobView(watched, resultIn(watched));
  }

  async function download(request: MemberRequest): Promise<Download> {
    const { format: given } = request.exchange.req.params;
    const watched = await jobOf(request);
    const result = resultIn(watched);
    const format = RESULT_FORMATS.find((one) => one === given);
    if (result === null || format === undefined || !hasFormat(result, format)) {
      throw new Refusal(404, TEXTS.errors.noResult);
    }
    const { type, ending } = FILES[format];
    const fileName = `${nameOf(watched)}.${ending}`;
    return { type, fileName, content: await contentOf(watched, result, format) };
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

  const id = `:${JobId.name}`;
  return [
    { path: jobPath(id), methods: { GET: pages.memberPage(show) } },
    { path: jobDownloadPath(id, ':format'), methods: { GET: pages.memberPage(download) } },
    {
      path: endJobPath(id),
      methods: {
        GET: pages.memberPage(async (request) => endJobView(await jobOf(request))),
        POST: pages.memberForm(end),
      },
    },
  ];
}

function resultIn({ job: { outcome } }: WatchedJob): TranscriptionResult | null {
  return outcome === null ? null : resultOf(outcome.result, outcome.charge);
}

async function contentOf(watched: WatchedJob, result: TranscriptionResult, format: ResultFormat): Promise<string> {
  if (format !== 'json') return answerText(result, format);
  return jsonText(await jobBody(watched));
}

/** As the recording is called, without its ending. */
function nameOf({ job: { id, fileName } }: WatchedJob): string {
  return fileName?.replace(/(?<=.)\.[^.]{1,8}$/u, '') ?? id;
}
