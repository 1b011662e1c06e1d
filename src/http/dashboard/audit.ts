/** Whether the ledger balances, and the operators' log. */
import type { NotedAction } from '../../ledger/operators.js';
import type { Violation } from '../../ledger/types.js';
import type { HttpDeps } from '../app/deps.js';
import type { Route } from '../app/route.js';
import { badge, type Tone } from './components/badge.js';
import { card } from './components/card.js';
import { emptyState } from './components/empty-state.js';
import { pager } from './components/pager.js';
import { table } from './components/table.js';
import { banner } from './components/toast.js';
import { moment, number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import type { View } from './page.js';
import { operatedPath, PATHS } from './paths.js';
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
  const shown = noted.slice(0, PER_PAGE);
  const last = noted.length > PER_PAGE ? shown.at(-1) : undefined;
  const main = html`<div class="stack">
    ${balance(violations)}
    ${card({
      ...{ title: operators.title, note: operators.note },
      content: shown.length === 0 ? emptyState({ icon: 'audit', title: operators.none }) : logTable(shown),
    })}
    ${pager({
      label: operators.pages,
      first: isFirst ? null : { href: PATHS.audit, label: operators.newest },
      next: last === undefined ? null : { href: `${PATHS.audit}?before=${last.id}`, label: operators.older },
    })}
  </div>`;
  return { title: TEXTS.pages.audit, main };
}

function balance(violations: readonly Violation[]): Html {
  if (violations.length === 0) return banner('information', html`<p role="status">${texts.balanced}</p>`);
  return html`${banner('bad', html`<p>${texts.unbalanced}</p>`)}
  ${table({
    caption: texts.ledger,
    columns: [texts.invariant, texts.detail],
    rows: violations.map(({ invariant, detail }) => [invariant, detail]),
  })}`;
}

function logTable(noted: readonly NotedAction[]): Html {
  return table({
    caption: operators.title,
    columns: [operators.at, operators.who, operators.what, operators.about, operators.detail, operators.outcome],
    rows: noted.map((entry) => [
      moment(entry.at),
      whoOf(entry),
      nameOf(entry.action),
      subjectOf(entry),
      detailOf(entry),
      outcomeOf(entry),
    ]),
  });
}

function whoOf({ operatorId, email }: NotedAction): HtmlValue {
  if (operatorId === null) return html`<code>${operators.commandLine}</code>`;
  return email === null ? operators.gone : accountLink(operatorId, email);
}

/** An account that is still there is linked. */
function subjectOf({ subject, subjectEmail }: NotedAction): HtmlValue {
  if (subject === null) return '';
  return subjectEmail === null ? html`<code class="ids">${subject}</code>` : accountLink(subject, subjectEmail);
}

function accountLink(id: string, email: string): Html {
  return html`<a class="email" href="${operatedPath(id)}">${email}</a>`;
}

/** Credits as numbers are written; the role, the payment or the file as they are. */
function detailOf({ action, detail }: NotedAction): string {
  if (detail === null || action !== 'granted') return detail ?? '';
  const [, amount, more] = /^(\d{1,15})(.*)$/s.exec(detail) ?? [];
  return amount === undefined ? detail : `${number(Number(amount))}${more ?? ''}`;
}

function outcomeOf({ outcome }: NotedAction): Html {
  const tones: Readonly<Record<NonNullable<NotedAction['outcome']>, Tone>> = { done: 'good', refused: 'bad' };
  return outcome === null ? badge(operators.unknown, 'warning') : badge(operators.outcomes[outcome], tones[outcome]);
}

/** Of one that only a newer version knows, its own name. */
function nameOf(action: string): string {
  return Object.hasOwn(operators.actions, action) ? operators.actions[action as OperatorActionName] : action;
}
