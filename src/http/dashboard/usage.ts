/** Charges by day and endpoint: as a chart, as a table, as CSV. */
import type { UsageDay } from '../../ledger/history.js';
import { DAY_MS, utcDay } from '../../ledger/time.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { number } from './format.js';
import { html, type Html } from './html.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { Refusal } from './refusal.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';
import type { Download, MemberRequest, PageHandlers } from './page-handlers.js';

const { usage: texts } = TEXTS;
const WINDOWS = [7, 30, 90] as const;
const DEFAULT_WINDOW = 30;

interface Shown {
  days: number;
  /** Seconds since 1970, of the window's first day. */
  first: number;
  rows: readonly UsageDay[];
}

export function usageRoutes({ clock, ledger }: HttpDeps, pages: PageHandlers): Route[] {
  async function shown({ account, exchange }: MemberRequest): Promise<Shown> {
    const days = windowOf(exchange.req.query['days']);
    const first = ((utcDay(clock()) - days + 1) * DAY_MS) / 1000;
    return { days, first, rows: await ledger.history.usageByDay(account.id, days) };
  }
  return [
    {
      path: PATHS.usage,
      methods: { GET: pages.memberPage(async (request) => usageView(await shown(request))) },
    },
    {
      path: PATHS.usageCsv,
      methods: { GET: pages.memberPage(async (request) => csvOf(await shown(request))) },
    },
  ];
}

function windowOf(given: unknown): number {
  if (given === undefined) return DEFAULT_WINDOW;
  const found = WINDOWS.find((days) => String(days) === given);
  if (found === undefined) throw new Refusal(400, TEXTS.errors.noWindow);
  return found;
}

function csvOf({ days, rows }: Shown): Download {
  const lines = rows.map(({ date, endpoint, requests, minutes, credits }) =>
    [date, endpoint, requests, minutes, credits].join(','),
  );
  return {
    type: 'text/csv; charset=utf-8; header=present',
    fileName: `usage-${days}-days.csv`,
    content: ['date,endpoint,requests,minutes,credits', ...lines, ''].join('\r\n'),
  };
}

function usageView(usage: Shown): View {
  const { days, rows } = usage;
  const main = html`<ul class="choices" aria-label="${texts.window}">
      ${WINDOWS.map(
        (window) =>
          html`<li>
            <a href="${PATHS.usage}?days=${window}" ${window === days && html`aria-current="true"`}
              >${texts.days(window)}</a
            >
          </li>`,
      )}
    </ul>
    ${figures(rows)} ${rows.length === 0 ? html`<p>${texts.none}</p>` : byDay(usage)}`;
  return { title: TEXTS.pages.usage, main, scripts: ['uplot.js'], modules: ['usage.js'] };
}

function figures(rows: readonly UsageDay[]): Html {
  const sum = (of: 'minutes' | 'credits' | 'requests'): string =>
    number(rows.reduce((total, row) => total + row[of], 0));
  return html`<dl class="figures">
    ${(['minutes', 'credits', 'requests'] as const).map(
      (of) =>
        html`<div>
          <dt>${texts[of]}</dt>
          <dd>${sum(of)}</dd>
        </div>`,
    )}
  </dl>`;
}

function byDay({ days, first, rows }: Shown): Html {
  return html`<figure id="chart" data-first="${first}" data-days="${days}" hidden>
      <div data-target role="img" aria-label="${texts.chart(days)}"></div>
      <ul></ul>
    </figure>
    <section id="by-day">
      <h2>${texts.byDay}</h2>
      <p><a href="${PATHS.usageCsv}?days=${days}" download>${texts.csv}</a></p>
      ${table({
        caption: texts.byDay,
        columns: [texts.day, texts.endpoint, texts.requests, texts.minutes, texts.credits],
        figures: [2, 3, 4],
        rows: rows.map(({ date, endpoint, requests, minutes, credits }) => [
          date,
          endpoint,
          requests,
          minutes,
          credits,
        ]),
      })}
    </section>`;
}
