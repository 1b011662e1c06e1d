/** Whether the ledger balances, and the operators' log. */
import type { NotedAction } from '../../ledger/operators.js';
import type { Violation } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { moment } from './format.js';
import { html, type Html } from './html.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import { table } from './table.js';
import { TEXTS, type OperatorActionName } from './texts.js';
import type { MemberRequest, PageHandlers } from './page-handlers.js';

const { server: texts, operators } = TEXTS;
const PER_PAGE = 50;

export function auditRoutes({ ledger }: HttpDeps, pages: PageHandlers): Route[] {
  async function show({ exchange }: MemberRequest): Promise<View> {
    const { before } = exchange.req.query;
    const from = typeof before === 'string' && /^\d{1,15}$/.test(before) ? before : null;
    const noted = await ledger.operators.list({ limit: PER_PAGE + 1, before: from });
    return auditView(await ledger.audit(), noted, from === null);
  }

  return [{ path: PATHS.audit, methods: { GET: pages.operatorPage(show) } }];
}

function auditView(violations: readonly Violation[], noted: readonly NotedAction[], isFirst: boolean): View {
  const main = html`${
      violations.length === 0
        ? html`<p role="status">${texts.balanced}</p>`
        : html`<p role="alert">${texts.unbalanced}</p>
            ${table({
              caption: texts.ledger,
              columns: [texts.invariant, texts.detail],
              rows: violations.map(({ invariant, detail }) => [invariant, detail]),
            })}`
    }
    ${notedSection(noted.slice(0, PER_PAGE), { isFirst, hasOlder: noted.length > PER_PAGE })}
    <p><a href="${PATHS.server}">${TEXTS.pages.server}</a></p>`;
  return { title: texts.audited, main };
}

function notedSection(
  noted: readonly NotedAction[],
  { isFirst, hasOlder }: { isFirst: boolean; hasOlder: boolean },
): Html {
  const last = noted.at(-1);
  return html`<section>
    <h2>${operators.title}</h2>
    <p>${operators.note}</p>
    ${
      noted.length === 0
        ? html`<p>${operators.none}</p>`
        : table({
            caption: operators.title,
            columns: [operators.at, operators.who, operators.what, operators.about, operators.outcome],
            rows: noted.map((entry) => [
              moment(entry.at),
              entry.operatorId === null ? operators.commandLine : (entry.email ?? operators.gone),
              whatOf(entry),
              entry.subjectEmail ?? (entry.subject === null ? '' : html`<code>${entry.subject}</code>`),
              entry.outcome === null ? operators.unknown : operators.outcomes[entry.outcome],
            ]),
          })
    }
    <p class="row">
      ${!isFirst && html`<a href="${PATHS.audit}">${operators.newest}</a>`}
      ${
        hasOlder &&
        last !== undefined &&
        html`<a rel="next" href="${PATHS.audit}?before=${last.id}">${operators.older}</a>`
      }
    </p>
  </section>`;
}

/** With how many credits, or which role. */
function whatOf({ action, detail }: NotedAction): string {
  return detail === null ? nameOf(action) : `${nameOf(action)}: ${detail}`;
}

/** Of one that only a newer version knows, its own name. */
function nameOf(action: string): string {
  return Object.hasOwn(operators.actions, action) ? operators.actions[action as OperatorActionName] : action;
}
