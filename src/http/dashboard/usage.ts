/** Charges by day and endpoint, by key and by model: as a chart, as tables, as CSV. */
import { DAY_MS, utcDay } from '../../ledger/time.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { CSV_TYPE, csvText } from '../../library/exports/csv-table.js';
import { PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { TEXTS } from './texts.js';
import { GROUPINGS, usageView, WINDOWS, type Grouping, type ShownUsage } from './usage-view.js';
import type { Download, MemberRequest, PageHandlers } from './page-handlers.js';

const DEFAULT_WINDOW = 30;

export function usageRoutes({ clock, ledger }: HttpDeps, pages: PageHandlers): Route[] {
  const { history } = ledger;

  async function usageOf({ account, exchange }: MemberRequest): Promise<ShownUsage> {
    const days = windowOf(exchange.req.query['days']);
    return {
      days,
      first: ((utcDay(clock()) - days + 1) * DAY_MS) / 1000,
      byDay: await history.usageByDay(account.id, days),
      byKey: await history.usageByKey(account.id, days),
      byModel: await history.usageByModel(account.id, days),
    };
  }

  async function download(request: MemberRequest): Promise<Download> {
    const grouping = groupingOf(request.exchange.req.query['by']);
    const usage = await usageOf(request);
    const fileName = `usage-${usage.days}-days-by-${grouping}.csv`;
    return { type: CSV_TYPE, fileName, content: CSV_OF[grouping](usage) };
  }

  return [
    { path: PATHS.usage, methods: { GET: pages.memberPage(async (request) => usageView(await usageOf(request))) } },
    { path: PATHS.usageCsv, methods: { GET: pages.memberPage(download) } },
  ];
}

function windowOf(given: unknown): number {
  if (given === undefined) return DEFAULT_WINDOW;
  const found = WINDOWS.find((days) => String(days) === given);
  if (found === undefined) throw new Refusal(400, TEXTS.errors.noWindow);
  return found;
}

function groupingOf(given: unknown): Grouping {
  if (given === undefined) return 'day';
  const found = GROUPINGS.find((one) => one === given);
  if (found === undefined) throw new Refusal(400, TEXTS.errors.noGrouping);
  return found;
}

const SUMS = ['requests', 'minutes', 'credits'] as const;

const CSV_OF: Readonly<Record<Grouping, (usage: ShownUsage) => string>> = {
  day: ({ byDay }) =>
    csvText(
      ['date', 'endpoint', ...SUMS],
      byDay.map(({ date, endpoint, requests, minutes, credits }) => [date, endpoint, requests, minutes, credits]),
    ),
  key: ({ byKey }) =>
    csvText(
      ['key_id', 'name', ...SUMS],
      byKey.map(({ keyId, name, requests, minutes, credits }) => [keyId, name, requests, minutes, credits]),
    ),
  model: ({ byModel }) =>
    csvText(
      ['model', ...SUMS],
      byModel.map(({ model, requests, minutes, credits }) => [model ?? '', requests, minutes, credits]),
    ),
};
