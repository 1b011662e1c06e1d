/** The operator's view of the server's load: one sample with the page, then one a second over server-sent events. */
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { demonstrationNote } from './demonstration-note.js';
import { html, type Html } from './html.js';
import { LoadFeed } from './load-feed.js';
import { textsOf, type FigureName } from './load-texts.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import type { ServerLoad } from './server-load.js';
import { table } from './table.js';
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
    <dl class="figures" id="figures" data-events="${PATHS.loadEvents}">
      ${Object.entries(shown).map(([name, value]) => figure(name as FigureName, value))}
    </dl>
    <figure id="chart" hidden>
      <div data-target role="img" aria-label="${texts.chart}"></div>
      <ul>
        <li class="series-1">${texts.backlogLine}</li>
        <li class="series-2">${texts.slotsLine}</li>
      </ul>
    </figure>
    <section id="accounts">
      <h2>${texts.accounts}</h2>
      <p>${texts.accountsNote}</p>
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
