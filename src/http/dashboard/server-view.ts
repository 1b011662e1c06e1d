/** What serves, and how: version, device, model, and the settings in force, the changed ones first. */
import { SETTING_GROUPS, type SettingInForce } from '../../setting-in-force.js';
import type { HttpDeps } from '../app/deps.js';
import { badge } from './components/badge.js';
import { button, linkButton } from './components/button.js';
import { card, facts } from './components/card.js';
import { emptyState } from './components/empty-state.js';
import { field } from './components/field.js';
import { table } from './components/table.js';
import { html, type Html, type HtmlValue } from './html.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { server: texts } = TEXTS;
const MOST_FILTER_LENGTH = 100;

/** `filter`: of the page's address. */
export function serverView(deps: HttpDeps, filter: unknown): View {
  const looked = typeof filter === 'string' ? filter.trim().slice(0, MOST_FILTER_LENGTH) : '';
  const main = html`<div class="stack">
    ${card({ title: texts.facts, content: facts(factsOf(deps)) })}
    ${card({
      ...{ title: texts.settings, id: 'settings', note: texts.settingsNote },
      content: html`${filterForm(looked)} ${settingsTables(deps.settingsInForce(), looked)}`,
    })}
  </div>`;
  return { title: TEXTS.pages.server, main };
}

function factsOf({ version, engine, diarizer }: HttpDeps): [string, HtmlValue][] {
  const { devices, modelName, voiceActivity, isDemonstration, languages } = engine.info;
  return [
    [texts.version, version],
    [texts.node, process.version],
    [texts.device, `${devices.name} (${devices.ids.join(', ')})`],
    [
      texts.model,
      html`<a href="${PATHS.models}">${modelName}</a> ${isDemonstration && badge(texts.demonstration, 'warning')}`,
    ],
    [texts.languages, languages.length > 12 ? String(languages.length) : languages.join(', ')],
    [texts.voiceActivity, voiceActivity],
    [texts.speakers, 'unavailable' in diarizer ? diarizer.unavailable : texts.yes],
  ];
}

function filterForm(filter: string): Html {
  return html`<form class="filters" role="search" method="get" action="${PATHS.server}">
    ${field({
      ...{ label: texts.filter, name: 'filter', value: filter, help: texts.filterHelp },
      attributes: { type: 'search', maxlength: MOST_FILTER_LENGTH, autocomplete: 'off', spellcheck: 'false' },
    })}
    <div class="row">
      ${button({ label: texts.filterSubmit, icon: 'search', kind: 'secondary' })}
      ${filter !== '' && linkButton({ href: PATHS.server, label: texts.clear, kind: 'quiet' })}
    </div>
  </form>`;
}

/** Those that were changed first, then the others by what they are about. */
function settingsTables(settings: readonly SettingInForce[], filter: string): Html {
  const shown = settings.filter((setting) => matches(setting, filter));
  if (shown.length === 0) return emptyState({ icon: 'search', title: texts.noneFound });
  const changed = shown.filter(({ from }) => from !== 'default');
  const others = shown.filter(({ from }) => from === 'default');
  return html`${changed.length > 0 && settingsTable(texts.changed, changed)}
  ${SETTING_GROUPS.map((group) => {
    const members = others.filter((setting) => setting.group === group);
    return members.length > 0 && settingsTable(texts.groups[group], members);
  })}`;
}

function matches({ variable, value, group }: SettingInForce, filter: string): boolean {
  const looked = filter.toLowerCase();
  return [variable, value, texts.groups[group]].some((text) => text.toLowerCase().includes(looked));
}

function settingsTable(title: string, settings: readonly SettingInForce[]): Html {
  return html`<section class="stack">
    <h3>${title}</h3>
    ${table({
      caption: title,
      columns: [texts.variable, texts.value, texts.from],
      rows: settings.map(({ variable, value, from }) => [
        html`<code class="ids">${variable}</code>`,
        value === '' ? html`<span class="soft">${texts.empty}</span>` : html`<span class="file-name">${value}</span>`,
        from === 'default'
          ? html`<span class="soft">${texts.origins.default}</span>`
          : badge(texts.origins[from], 'information'),
      ]),
    })}
  </section>`;
}
