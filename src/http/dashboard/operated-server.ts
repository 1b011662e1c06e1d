/** What serves, and how: version, models, settings in force; and whether the books balance. */
import type { Violation } from '../../ledger/types.js';
import type { HttpDeps, SettingInForce } from '../deps.js';
import type { Route } from '../route.js';
import { html, type Html, type HtmlValue } from './html.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';
import type { Visits } from './visits.js';

const { server: texts } = TEXTS;

export function operatedServerRoutes(deps: HttpDeps, visits: Visits): Route[] {
  return [
    { path: PATHS.server, methods: { GET: visits.operatorPage(() => serverView(deps)) } },
    {
      path: PATHS.audit,
      methods: { GET: visits.operatorPage(async () => auditView(await deps.ledger.audit())) },
    },
  ];
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
      <h2>${texts.models}</h2>
      ${table({
        caption: texts.models,
        columns: [texts.model, texts.state],
        rows: modelsOf(deps).map((name) => [
          name,
          name === deps.engine.modelName ? texts.serves : texts.installed,
        ]),
      })}
      <p>${texts.pull} <code>npx verbatim models pull NAME</code></p>
    </section>
    <section>
      <h2>${texts.books}</h2>
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

/** With the one that serves, wherever it lies. */
function modelsOf({ engine, installedModels }: HttpDeps): string[] {
  return [...new Set([engine.modelName, ...installedModels()])];
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

function auditView(violations: readonly Violation[]): View {
  const main = html`${
      violations.length === 0
        ? html`<p role="status">${texts.balanced}</p>`
        : html`<p role="alert">${texts.unbalanced}</p>
            ${table({
              caption: texts.books,
              columns: [texts.invariant, texts.detail],
              rows: violations.map(({ invariant, detail }) => [invariant, detail]),
            })}`
    }
    <p><a href="${PATHS.server}">${TEXTS.pages.server}</a></p>`;
  return { title: texts.audited, main };
}
