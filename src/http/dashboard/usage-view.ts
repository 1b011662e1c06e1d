import type { UsageDay, UsageOfKey, UsageOfModel, UsageSums } from '../../ledger/history.js';
import { linkButton } from './components/button.js';
import { card, figures } from './components/card.js';
import { emptyState } from './components/empty-state.js';
import { table } from './components/table.js';
import { number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { usage: texts } = TEXTS;
export const WINDOWS = [7, 30, 90] as const;
export const GROUPINGS = ['day', 'key', 'model'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface ShownUsage {
  days: number;
  /** Seconds since 1970, of the window's first day. */
  first: number;
  byDay: readonly UsageDay[];
  byKey: readonly UsageOfKey[];
  byModel: readonly UsageOfModel[];
}

export function usageView(usage: ShownUsage): View {
  const { byDay } = usage;
  const main = html`<div class="stack">
    ${windows(usage.days)}
    ${
      byDay.length === 0
        ? emptyState({ icon: 'usage', title: texts.none, text: texts.noneText })
        : html`${sums(byDay)} ${chart(usage)} ${byKeyAndModel(usage)} ${days(usage)}`
    }
  </div>`;
  return { title: TEXTS.pages.usage, main, scripts: ['uplot.js'], modules: ['usage.js'] };
}

function windows(days: number): Html {
  return html`<ul class="segments" aria-label="${texts.window}">
    ${WINDOWS.map(
      (window) =>
        html`<li>
          <a href="${PATHS.usage}?days=${window}" ${window === days && html`aria-current="true"`}
            >${texts.days(window)}</a
          >
        </li>`,
    )}
  </ul>`;
}

function sums(rows: readonly UsageSums[]): Html {
  return figures(
    (['minutes', 'credits', 'requests'] as const).map((of) => ({
      label: texts[of],
      value: number(rows.reduce((total, row) => total + row[of], 0)),
    })),
  );
}

function chart({ days, first }: ShownUsage): Html {
  const content = html`<figure id="chart" data-first="${first}" data-days="${days}">
    <div data-target role="img" aria-label="${texts.chart(days)}"></div>
    <ul></ul>
  </figure>`;
  return html`<div data-needs-scripts hidden>${card({ title: texts.chartTitle, content })}</div>`;
}

function byKeyAndModel({ days, byKey, byModel }: ShownUsage): Html {
  const keys = byKey.map(({ name, ...row }) => ({ name, ...row }));
  const models = byModel.map(({ model, ...row }) => ({ name: model ?? texts.unknownModel, ...row }));
  return html`<div class="columns">
    ${card({
      ...{ id: 'by-key', title: texts.byKey, action: csvLink('key', days) },
      content: sharesTable(texts.byKey, texts.key, keys),
    })}
    ${card({
      ...{ id: 'by-model', title: texts.byModel, action: csvLink('model', days) },
      content: sharesTable(texts.byModel, texts.model, models),
    })}
  </div>`;
}

/** Each with its part of all credits, as a bar too. */
function sharesTable(caption: string, column: string, rows: readonly (UsageSums & { name: string })[]): Html {
  const all = rows.reduce((total, { credits }) => total + credits, 0);
  return table({
    caption,
    columns: [column, texts.requests, texts.minutes, texts.credits, texts.share],
    figures: [1, 2, 3],
    rows: rows.map(({ name, requests, minutes, credits }) => [
      name,
      number(requests),
      number(minutes),
      number(credits),
      share(name, all === 0 ? 0 : credits / all),
    ]),
  });
}

function share(name: string, part: number): HtmlValue {
  const percent = Math.round(100 * part);
  return html`<span class="share">
    <meter min="0" max="100" value="${percent}" aria-label="${texts.shareOf(name)}"></meter>
    <span>${percent} %</span>
  </span>`;
}

function days({ days: window, byDay }: ShownUsage): Html {
  return card({
    ...{ id: 'by-day', title: texts.byDay, action: csvLink('day', window) },
    content: table({
      caption: texts.byDay,
      columns: [texts.day, texts.endpoint, texts.requests, texts.minutes, texts.credits],
      figures: [2, 3, 4],
      rows: byDay.map(({ date, endpoint, requests, minutes, credits }) => [date, endpoint, requests, minutes, credits]),
    }),
  });
}

function csvLink(by: Grouping, days: number): Html {
  return linkButton({
    href: `${PATHS.usageCsv}?days=${days}&by=${by}`,
    ...{ label: texts.csv, fullLabel: texts.csvOf[by], icon: 'download', kind: 'secondary', isDownload: true },
  });
}
