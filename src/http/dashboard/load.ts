/** The operator's view of the server's load: one sample with the page, then one a second over server-sent events. */
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { card } from './components/card.js';
import { demonstrationNote } from './demonstration-note.js';
import { html, type Html } from './html.js';
import { LoadFeed } from './load-feed.js';
import { textsOf, type FigureName } from './load-texts.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import type { ServerLoad } from './server-load.js';
import { table } from './components/table.js';
import { TEXTS } from './texts.js';
import type { PageHandlers } from './page-handlers.js';

const { load: texts } = TEXTS;

export function loadRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const feed = new LoadFeed(deps);
  return [
    {
      path: PATHS.load,
      methods: {
        GET: pages.operatorPage(async ({ account }) => {
          const note = demonstrationNote(deps, account);
          return loadView(await feed.sample(), deps.engine.info.devices.name, note);
        }),
      },
    },
    {
      path: PATHS.loadEvents,
      methods: {
        GET: pages.operatorCall((exchange) => {
          const stream = exchange.events(() => ({}));
          const isIn = feed.join(stream, (call) => exchange.res.once('close', call));
          if (!isIn) exchange.json(503, { error: { message: texts.tooMany } }, { 'Retry-After': '30' });
        }),
      },
    },
  ];
}

/** Figures that belong together. */
const GROUPS = {
  work: ['busySlots', 'windowsInFlight', 'queuedWindows', 'backlogSeconds', 'retryAfterSeconds', 'realTimeFactor'],
  requests: ['requestsInFlight', 'refusals'],
  live: ['liveSessions', 'liveLagMs', 'liveRefusals'],
  server: ['eventLoopMs', 'memoryBytes'],
} as const satisfies Readonly<Record<string, readonly FigureName[]>>;

type ChartName = keyof typeof texts.chartTitles;
type LineName = keyof typeof texts.lines;

/** Each of one unit; browser/load.ts draws them. */
const CHARTS: Readonly<Record<ChartName, readonly LineName[]>> = {
  slots: ['busySlots'],
  windows: ['windowsInFlight', 'queuedWindows'],
  seconds: ['backlogSeconds'],
  requests: ['requestsInFlight', 'liveSessions'],
};

function chart(name: ChartName, lines: readonly LineName[]): Html {
  const title = texts.chartTitles[name];
  const content = html`<figure data-chart="${lines.join(' ')}">
    <div data-target role="img" aria-label="${texts.chartOf(title)}"></div>
    ${
      lines.length > 1 &&
      html`<ul>
        ${lines.map((line, index) => html`<li class="series-${index + 1}">${texts.lines[line]}</li>`)}
      </ul>`
    }
  </figure>`;
  return card({ title, content });
}

/** A figure, which the page's script updates. */
function figure(name: FigureName, value: string): Html {
  return html`<div>
    <dt>${texts.figures[name]}</dt>
    <dd data-load="${name}">${value}</dd>
  </div>`;
}

function loadView(load: ServerLoad, device: string, note: Html | null): View {
  const { figures, rows } = textsOf(load);
  const { at, ...shown } = figures;
  const main = html`${note}
    <p>
      ${texts.device}: <strong>${device}</strong> · ${texts.at} <span data-load="at">${at}</span>
      <noscript> · <a href="${PATHS.load}">${texts.reload}</a></noscript>
    </p>
    <p role="status" id="link" data-broken="${texts.broken}"></p>
    <div class="stack" id="figures" data-events="${PATHS.loadEvents}">
      ${Object.entries(GROUPS).map(
        ([group, names]) =>
          html`<section class="stack">
            <h2>${texts.groups[group as keyof typeof GROUPS]}</h2>
            <dl class="figures">${names.map((name) => figure(name, shown[name]))}</dl>
          </section>`,
      )}
    </div>
    <section class="stack" data-needs-scripts hidden>
      <h2>${texts.charts}</h2>
      <p class="soft">${texts.chartsNote}</p>
      <div class="columns">${Object.entries(CHARTS).map(([name, lines]) => chart(name as ChartName, lines))}</div>
    </section>
    <section class="stack" id="accounts">
      <h2>${texts.accounts}</h2>
      <p class="soft">${texts.accountsNote}</p>
      ${table({
        caption: texts.accounts,
        columns: [
          ...[texts.email, texts.figures.requestsInFlight, texts.queuedFiles],
          ...[texts.queuedSeconds, texts.jobSeconds],
        ],
        figures: [1, 2, 3, 4],
        rows,
      })}
    </section>`;
  return { title: TEXTS.pages.load, main, scripts: ['uplot.js'], modules: ['load.js'] };
}
