/**
 * The account's transcriptions, jobs included: when, how long, by which model, in which language, at which price; never
 * audio or text.
 */
import type { HistoryEntry, RunningRequest } from '../../ledger/history.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { moment, number } from './format.js';
import { html, type Html } from './html.js';
import { jobsPage } from './jobs.js';
import { jobsSection, type JobsPage } from './jobs-views.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';
import type { PageHandlers } from './page-handlers.js';

const { history: texts } = TEXTS;
const PER_PAGE = 50;
const MOST_RUNNING = 100;

interface HistoryPage {
  /** Jobs among them. */
  running: readonly RunningRequest[];
  jobs: JobsPage;
  /** One more than are shown, if there are more. */
  entries: readonly HistoryEntry[];
  before: string | null;
  notice: unknown;
}

export function historyRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { history } = deps.ledger;
  const page = pages.memberPage(async ({ account, exchange }) => {
    const { before: given, jobs: cursor, notice } = exchange.req.query;
    const before = entryId(given);
    const running = await history.running(account.id, MOST_RUNNING);
    const jobs = await jobsPage(deps, account.id, cursor);
    const entries = await history.charged(account.id, { limit: PER_PAGE + 1, before });
    return historyView({ running, jobs, entries, before, notice });
  });
  return [{ path: PATHS.history, methods: { GET: page } }];
}

function entryId(given: unknown): string | null {
  if (given === undefined) return null;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return given;
  throw new Refusal(400, TEXTS.errors.noEntry);
}

function historyView({ running, jobs, entries, before, notice }: HistoryPage): View {
  const shown = entries.slice(0, PER_PAGE);
  const last = entries.length > PER_PAGE ? shown.at(-1) : undefined;
  const isRunning = running.length > 0 || jobs.jobs.some(({ job }) => job.finishedAt === null);
  const main = html`${noticeOf(notice)}
    <p>${texts.note}</p>
    <div id="live" ${isRunning && html`data-running`}>${runningTable(running, jobs)} ${jobsSection(jobs, running)}</div>
    <section>
      <h2>${texts.charged}</h2>
      ${shown.length === 0 ? html`<p>${texts.none}</p>` : chargedTable(shown)}
    </section>
    <p class="row">
      ${before !== null && html`<a href="${PATHS.history}">${texts.newest}</a>`}
      ${last !== undefined && html`<a rel="next" href="${PATHS.history}?before=${last.id}">${texts.older}</a>`}
    </p>`;
  return { title: TEXTS.pages.history, main, modules: ['refresh.js'] };
}

/** Of requests whose clients wait; jobs are listed as jobs. */
function runningTable(running: readonly RunningRequest[], { jobs }: JobsPage): Html | null {
  const ofJobs = new Set(jobs.map(({ job }) => job.requestId));
  const requests = running.filter(({ requestId }) => !ofJobs.has(requestId));
  if (requests.length === 0) return null;
  return html`<section>
    <h2>${texts.now}</h2>
    ${table({
      caption: texts.now,
      columns: [texts.at, texts.requestId, texts.held, texts.status],
      figures: [2],
      rows: requests.map(({ at, requestId, credits }) => [
        moment(at),
        html`<code>${requestId}</code>`,
        number(credits),
        texts.running,
      ]),
    })}
  </section>`;
}

function chargedTable(entries: readonly HistoryEntry[]): Html {
  return table({
    caption: texts.charged,
    columns: [
      ...[texts.at, texts.ids, texts.endpoint, texts.model, texts.seconds, texts.language],
      ...[texts.credits, texts.status],
    ],
    figures: [4, 6],
    rows: entries.map((entry) => [
      moment(entry.at),
      html`<code>${entry.transcriptionId ?? texts.unknown}</code><br /><code>${entry.requestId}</code>`,
      entry.endpoint,
      entry.model ?? texts.unknown,
      entry.audioSeconds.toFixed(1),
      entry.language ?? texts.unknown,
      number(entry.credits),
      texts.done,
    ]),
  });
}
