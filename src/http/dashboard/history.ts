/** What the account asked for and what runs: file, key, model, state and credits; never audio or text. */
import type { Activity, ActivityPage } from '../../ledger/history.js';
import type { WatchedJob } from '../../jobs/job-service.js';
import type { HttpDeps } from '../app/deps.js';
import type { Exchange } from '../app/exchange.js';
import type { Route } from '../app/route.js';
import { activityTable, type ActivityDetails } from './activity-view.js';
import {
  activityPath,
  filterForm,
  filtersIn,
  isFiltered,
  placeIn,
  type ActivityFilters,
  type FilterChoices,
} from './activity-filters.js';
import { linkButton } from './components/button.js';
import { questionView } from './components/question.js';
import { emptyState } from './components/empty-state.js';
import { pager } from './components/pager.js';
import { html, type Html } from './html.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { cancelRequestPath, PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import type { PageHandlers } from './page-handlers.js';

const { history: texts } = TEXTS;
const PER_PAGE = 50;
const REQUEST_ID = /^req_[\da-f-]{36}$/;
/** Endpoints to choose from are those of this time. */
const LONGEST_WINDOW = 90;

interface HistoryState extends ActivityDetails {
  filters: ActivityFilters;
  choices: FilterChoices;
  page: ActivityPage;
  isFirst: boolean;
  notice: unknown;
}

export function historyRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { history, keys } = deps.ledger;
  const show = pages.memberPage(async ({ account, exchange }) => {
    const { query } = exchange.req;
    const [filters, after] = [filtersIn(query), placeIn(query)];
    const page = await history.activity(account.id, { ...filters, limit: PER_PAGE, after });
    const used = await history.usageByDay(account.id, LONGEST_WINDOW);
    const choices = {
      keys: await keys.list(account.id),
      endpoints: [...new Set(used.map(({ endpoint }) => endpoint))].sort(),
    };
    const open = await openJobs(deps, account.id, page.entries);
    const kept = await deps.library.keptAmong(page.entries.flatMap(({ transcriptionId }) => transcriptionId ?? []));
    return historyView({ filters, choices, page, open, kept, isFirst: after === null, notice: query['notice'] });
  });
  const question = pages.memberPage(({ exchange }) => cancelView(idOf(exchange)));
  const cancel = pages.memberForm(({ account, exchange }) => {
    if (!deps.inFlight.cancel(account.id, idOf(exchange))) throw new Refusal(409, TEXTS.errors.noRequest);
    return { to: `${PATHS.history}?notice=request-cancelled` };
  });
  return [
    { path: PATHS.history, methods: { GET: show } },
    { path: cancelRequestPath(':id'), methods: { GET: question, POST: cancel } },
  ];
}

function idOf({ req }: Exchange): string {
  const { id } = req.params;
  if (typeof id !== 'string' || !REQUEST_ID.test(id)) throw new Refusal(409, TEXTS.errors.noRequest);
  return id;
}

function cancelView(id: string): View {
  return questionView({
    title: texts.cancelTitle,
    about: html`<code>${id}</code>`,
    note: texts.confirmCancel,
    action: cancelRequestPath(id),
    submit: texts.cancel,
    back: { href: PATHS.history, label: texts.keep },
  });
}

/** Of the jobs of a page that have not ended, how far they are. */
async function openJobs(
  { jobs }: HttpDeps,
  accountId: string,
  entries: readonly Activity[],
): Promise<Map<string, WatchedJob>> {
  const open = entries.filter(({ jobId, state }) => jobId !== null && (state === 'queued' || state === 'running'));
  const watched = await jobs.watch(
    accountId,
    open.flatMap(({ jobId }) => jobId ?? []),
  );
  return new Map(watched.map((job) => [job.job.id, job]));
}

function historyView({ filters, choices, page, open, kept, isFirst, notice }: HistoryState): View {
  const { entries, next } = page;
  const isRunning = entries.some(({ state }) => state === 'queued' || state === 'running');
  const older = next === null ? null : { href: activityPath(filters, next), label: texts.older };
  const main = html`${noticeOf(notice)} ${filterForm(filters, choices)}
    <div id="live" ${isRunning && html`data-running`}>
      <div>${entries.length === 0 ? nothing(filters, older !== null) : activityTable(entries, { open, kept })}</div>
    </div>
    ${pager({
      label: texts.pages,
      first: isFirst ? null : { href: activityPath(filters, null), label: texts.newest },
      next: older,
    })}`;
  return { title: TEXTS.pages.history, lead: texts.lead, main, modules: ['refresh.js'] };
}

function nothing(filters: ActivityFilters, isCut: boolean): Html {
  if (isCut) return emptyState({ icon: 'search', title: texts.noneFound, text: texts.searchedTo });
  if (isFiltered(filters)) return emptyState({ icon: 'search', title: texts.noneFound });
  const action = linkButton({ href: PATHS.try, label: TEXTS.pages.try, kind: 'primary' });
  return emptyState({ icon: 'activity', title: texts.none, text: texts.noneText, action });
}
