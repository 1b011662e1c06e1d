/** The operator's view of what the server carries: one sample with the page, then one a second over server-sent events. */
import type { HttpDeps } from '../deps.js';
import type { Route } from '../route.js';
import { moment, number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import { LoadFeed, type ServerLoad } from './load-feed.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';
import type { Visits } from './visits.js';

const { load: texts } = TEXTS;

export function loadRoutes(deps: HttpDeps, visits: Visits): Route[] {
  const feed = new LoadFeed(deps);
  return [
    {
      path: PATHS.load,
      methods: {
        GET: visits.operatorPage(async () => loadView(await feed.sample(), deps.engine.devices.name)),
      },
    },
    {
      path: PATHS.loadEvents,
      methods: {
        GET: visits.operatorCall((exchange) => {
          const stream = exchange.events(() => ({}));
          const isIn = feed.join(stream, (call) => exchange.res.once('close', call));
          if (!isIn) exchange.json(503, { error: { message: texts.tooMany } }, { 'Retry-After': '30' });
        }),
      },
    },
  ];
}

/** A figure, and how the page's script writes it anew. */
function figure(name: keyof typeof texts.figures, value: HtmlValue): Html {
  return html`<div>
    <dt>${texts.figures[name]}</dt>
    <dd data-load="${name}">${value}</dd>
  </div>`;
}

function loadView(load: ServerLoad, device: string): View {
  const { slots, busySlots, backlogSeconds, maxBacklogSeconds, memoryBytes, eventLoopMs } = load;
  const main = html`<p>
      ${texts.device}: <strong>${device}</strong> · ${texts.at} <span data-load="at">${moment(load.at)}</span>
      <noscript> · <a href="${PATHS.load}">${texts.reload}</a></noscript>
    </p>
    <p role="status" id="link" data-broken="${texts.broken}"></p>
    <dl class="figures" id="figures" data-events="${PATHS.loadEvents}">
      ${figure('busySlots', `${busySlots} / ${slots}`)}
      ${figure('windowsInFlight', number(load.windowsInFlight))}
      ${figure('queuedWindows', number(load.queuedWindows))}
      ${figure('backlogSeconds', `${number(Math.round(backlogSeconds))} / ${number(maxBacklogSeconds)}`)}
      ${figure('realTimeFactor', load.realTimeFactor.toFixed(3))}
      ${figure('retryAfterSeconds', number(load.retryAfterSeconds))}
      ${figure('requestsInFlight', number(load.requestsInFlight))}
      ${figure('refusals', number(load.refusals))}
      ${figure('eventLoopMs', eventLoopMs === null ? texts.unknown : eventLoopMs.toFixed(1))}
      ${figure('memoryBytes', number(Math.round(memoryBytes / 2 ** 20)))}
    </dl>
    <figure id="chart" hidden>
      <div data-target role="img" aria-label="${texts.chart}"></div>
      <ul>
        <li class="series-1">${texts.backlogLine}</li>
        <li class="series-2">${texts.slotsLine}</li>
      </ul>
    </figure>
    <section id="accounts" data-none="${texts.nobody}">
      <h2>${texts.accounts}</h2>
      ${table({
        caption: texts.accounts,
        columns: [texts.email, texts.figures.requestsInFlight],
        figures: [1],
        rows:
          load.accounts.length === 0
            ? [[texts.nobody, '']]
            : load.accounts.map(({ email, requests }) => [email, number(requests)]),
      })}
    </section>`;
  return { title: TEXTS.pages.load, main, scripts: ['uplot.js'], modules: ['load.js'] };
}
