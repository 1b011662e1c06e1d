/** What serves, and how: version, models and their downloads, settings in force. */
import { ModelRefused, VerbatimError } from '../../errors.js';
import type { HttpDeps, SettingInForce } from '../deps.js';
import { ERROR_TABLE } from '../error-table.js';
import type { Route } from '../route.js';
import { html, type Html, type HtmlValue } from './html.js';
import { modelsSection } from './models-view.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { PATHS, shelfPath } from './paths.js';
import { Refusal } from './refusal.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';
import type { MemberVisit, PageReply, Visits } from './visits.js';

const { server: texts } = TEXTS;

export function operatedServerRoutes(deps: HttpDeps, visits: Visits): Route[] {
  const { shelf, models } = deps;
  const show = ({ exchange }: MemberVisit): View => serverView(deps, exchange.req.query['notice']);

  function download({ exchange }: MemberVisit): PageReply {
    const name = String(exchange.req.params['id']);
    shelf.download(name);
    return { to: `${PATHS.server}?notice=download-begun` };
  }

  function cancel({ exchange }: MemberVisit): PageReply {
    const name = String(exchange.req.params['id']);
    if (!shelf.cancel(name)) throw new Refusal(409, TEXTS.models.notRunning(name));
    return { to: `${PATHS.server}?notice=download-cancelled` };
  }

  function use({ account, exchange }: MemberVisit): PageReply {
    models.use(String(exchange.req.params['id']), account.email);
    return { to: `${PATHS.server}?notice=model-begun` };
  }

  return [
    { path: PATHS.server, methods: { GET: visits.operatorPage(show) } },
    {
      path: shelfPath(':id', 'download'),
      methods: { POST: visits.operatorForm('model-downloaded', refusing(download)) },
    },
    {
      path: shelfPath(':id', 'use'),
      methods: { POST: visits.operatorForm('model-used', refusing(use)) },
    },
    {
      path: shelfPath(':id', 'cancel'),
      methods: { POST: visits.operatorForm('download-cancelled', cancel) },
    },
  ];
}

/** What the shelf or the switch refuses is told on a page. */
function refusing(act: (visit: MemberVisit) => PageReply): (visit: MemberVisit) => PageReply {
  return (visit) => {
    try {
      return act(visit);
    } catch (error) {
      if (error instanceof VerbatimError) throw new Refusal(ERROR_TABLE[error.code].status, error.message);
      if (error instanceof ModelRefused) throw new Refusal(409, error.message);
      throw error;
    }
  };
}

function serverView(deps: HttpDeps, notice: unknown): View {
  const main = html`${noticeOf(notice)}
    <section>
      <h2>${texts.facts}</h2>
      <dl class="facts">
        ${factsOf(deps).map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd dir="auto">${value}</dd>`,
        )}
      </dl>
    </section>
    ${modelsSection(deps.shelf.list(), deps.models.state())}
    <section>
      <h2>${texts.books}</h2>
      <p><a href="${PATHS.audit}">${texts.audit}</a></p>
    </section>
    <section>
      <h2>${texts.settings}</h2>
      <p>${texts.settingsNote}</p>
      ${settingsTable(deps.settingsInForce())}
    </section>`;
  return { title: TEXTS.pages.server, main, modules: ['refresh.js'] };
}

function factsOf({ version, engine, diarizer }: HttpDeps): [string, HtmlValue][] {
  const { devices, voiceActivity, isDemonstration, languages } = engine;
  return [
    [texts.version, version],
    [texts.node, process.version],
    [texts.device, `${devices.name} (${devices.ids.join(', ')})`],
    [texts.model, isDemonstration ? `${engine.modelName} (${texts.demonstration})` : engine.modelName],
    [texts.languages, languages.length > 12 ? String(languages.length) : languages.join(', ')],
    [texts.voiceActivity, voiceActivity],
    [texts.speakers, 'unavailable' in diarizer ? diarizer.unavailable : texts.yes],
  ];
}

function settingsTable(settings: readonly SettingInForce[]): Html {
  return table({
    caption: texts.settings,
    columns: [texts.variable, texts.value, texts.from],
    rows: settings.map(({ variable, value, from }) => [
      html`<code>${variable}</code>`,
      value,
      texts.origins[from],
    ]),
  });
}
