/** What serves, and how: version, models and their downloads, settings in force. */
import { ModelRefused, VerbatimError } from '../../errors.js';
import type { HttpDeps } from '../app/deps.js';
import type { SettingInForce } from '../../setting-in-force.js';
import { ERROR_TABLE } from '../errors/error-table.js';
import type { Route } from '../app/route.js';
import { html, type Html, type HtmlValue } from './html.js';
import { modelsSection } from './models-view.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { PATHS, modelActionPath } from './paths.js';
import { Refusal } from './refusal.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';
import type { MemberRequest, PageReply, PageHandlers } from './page-handlers.js';

const { server: texts } = TEXTS;

export function operatedServerRoutes(deps: HttpDeps, pages: PageHandlers): Route[] {
  const { modelStore, models } = deps;
  const showModels = ({ exchange }: MemberRequest): View => modelsView(deps, exchange.req.query['notice']);

  function download({ exchange }: MemberRequest): PageReply {
    const name = String(exchange.req.params['id']);
    modelStore.download(name);
    return { to: `${PATHS.models}?notice=download-begun` };
  }

  function cancel({ exchange }: MemberRequest): PageReply {
    const name = String(exchange.req.params['id']);
    if (!modelStore.cancel(name)) throw new Refusal(409, TEXTS.models.notRunning(name));
    return { to: `${PATHS.models}?notice=download-cancelled` };
  }

  function use({ account, exchange }: MemberRequest): PageReply {
    models.use(String(exchange.req.params['id']), account.email);
    return { to: `${PATHS.models}?notice=model-begun` };
  }

  return [
    { path: PATHS.server, methods: { GET: pages.operatorPage(() => serverView(deps)) } },
    { path: PATHS.models, methods: { GET: pages.operatorPage(showModels) } },
    {
      path: modelActionPath(':id', 'download'),
      methods: { POST: pages.operatorForm('model-downloaded', refusing(download)) },
    },
    {
      path: modelActionPath(':id', 'use'),
      methods: { POST: pages.operatorForm('model-used', refusing(use)) },
    },
    {
      path: modelActionPath(':id', 'cancel'),
      methods: { POST: pages.operatorForm('download-cancelled', cancel) },
    },
  ];
}

/** Refusals of the model store or the switch are shown on a page. */
function refusing(act: (request: MemberRequest) => PageReply): (request: MemberRequest) => PageReply {
  return (request) => {
    try {
      return act(request);
    } catch (error) {
      if (error instanceof VerbatimError) throw new Refusal(ERROR_TABLE[error.code].status, error.message);
      if (error instanceof ModelRefused) throw new Refusal(409, error.message);
      throw error;
    }
  };
}

function modelsView({ modelStore, models }: HttpDeps, notice: unknown): View {
  const main = html`${noticeOf(notice)} ${modelsSection(modelStore.list(), models.state())}`;
  return { title: TEXTS.pages.models, main, modules: ['refresh.js'] };
}

function serverView(deps: HttpDeps): View {
  const main = html`<section>
      <h2>${texts.facts}</h2>
      <dl class="facts">
        ${factsOf(deps).map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd dir="auto">${value}</dd>`,
        )}
      </dl>
    </section>
    <section>
      <h2>${texts.ledger}</h2>
      <p><a href="${PATHS.audit}">${texts.audit}</a></p>
    </section>
    <section>
      <h2>${texts.settings}</h2>
      <p>${texts.settingsNote}</p>
      ${settingsTable(deps.settingsInForce())}
    </section>`;
  return { title: TEXTS.pages.server, main };
}

function factsOf({ version, engine, diarizer }: HttpDeps): [string, HtmlValue][] {
  const { devices, modelName, voiceActivity, isDemonstration, languages } = engine.info;
  return [
    [texts.version, version],
    [texts.node, process.version],
    [texts.device, `${devices.name} (${devices.ids.join(', ')})`],
    [texts.model, isDemonstration ? `${modelName} (${texts.demonstration})` : modelName],
    [texts.languages, languages.length > 12 ? String(languages.length) : languages.join(', ')],
    [texts.voiceActivity, voiceActivity],
    [texts.speakers, 'unavailable' in diarizer ? diarizer.unavailable : texts.yes],
  ];
}

function settingsTable(settings: readonly SettingInForce[]): Html {
  return table({
    caption: texts.settings,
    columns: [texts.variable, texts.value, texts.from],
    rows: settings.map(({ variable, value, from }) => [html`<code>${variable}</code>`, value, texts.origins[from]]),
  });
}
