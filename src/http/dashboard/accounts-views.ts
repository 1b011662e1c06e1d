/** The operator's customers: the list, and an account with all that can be done about it. */
import type { ListedAccount } from '../../ledger/administration.js';
import type { Account, Role } from '../../ledger/types.js';
import { badge } from './components/badge.js';
import { button, buttonForm, linkButton } from './components/button.js';
import { card, facts } from './components/card.js';
import { emptyState } from './components/empty-state.js';
import { field } from './components/field.js';
import { pager } from './components/pager.js';
import { table } from './components/table.js';
import { ago, moment, number } from './format.js';
import { html, type Html, type HtmlValue } from './html.js';
import { noticeOf } from './notice.js';
import type { Pack } from './credit-packs.js';
import type { View } from './page.js';
import { operatedPath, PATHS } from './paths.js';
import { TEXTS } from './texts.js';

const { accounts: texts, account: own } = TEXTS;

/** Of one of a page's forms. */
export interface FormError {
  form: 'make' | 'grant';
  /** Where it belongs; null: to no field in particular. */
  field: string | null;
  message: string;
  /** What was sent. */
  values: Readonly<Record<string, string>>;
}

interface ListState {
  /** null: all are listed. */
  search: string | null;
  /** Whether more were found than are shown. */
  hasMore: boolean;
  /** Cursor; null: this is the last page. */
  next: string | null;
  isFirst: boolean;
  /** Milliseconds since 1970. */
  now: number;
  notice: unknown;
  error: FormError | undefined;
}

export function accountsView(accounts: readonly ListedAccount[], state: ListState): View {
  const { search, hasMore, next, isFirst, now, notice, error } = state;
  const main = html`${noticeOf(notice)}
    <div class="stack">
      ${searchForm(search)}
      ${card({
        title: search === null ? texts.list : texts.found(search),
        content: html`${
          accounts.length === 0
            ? emptyState({ icon: 'search', title: texts.noneFound, text: texts.noneFoundText })
            : listTable(accounts, now)
        }
        ${search !== null && hasMore && html`<p class="soft">${texts.moreFound(accounts.length)}</p>`}`,
      })}
      ${pager({
        label: texts.pages,
        first: isFirst ? null : { href: PATHS.accounts, label: texts.first },
        next: next === null ? null : { href: `${PATHS.accounts}?after=${next}`, label: texts.next },
      })}
      ${card({ title: texts.make, id: 'make', content: makeForm(error) })}
    </div>`;
  return { title: TEXTS.pages.accounts, main };
}

function searchForm(search: string | null): Html {
  return html`<form class="filters" role="search" method="get" action="${PATHS.accounts}">
    ${field({
      ...{ label: texts.search, name: 'search', value: search ?? '', help: texts.searchHelp },
      attributes: { type: 'search', maxlength: 254, autocomplete: 'off', dir: 'auto' },
    })}
    <div class="row">
      ${button({ label: texts.searchSubmit, icon: 'search', kind: 'secondary' })}
      ${search !== null && linkButton({ href: PATHS.accounts, label: texts.clear, kind: 'quiet' })}
    </div>
  </form>`;
}

function listTable(accounts: readonly ListedAccount[], now: number): Html {
  return table({
    caption: texts.list,
    columns: [texts.email, texts.name, texts.state, texts.balance, texts.seen, texts.created],
    figures: [3],
    rows: accounts.map((account) => [
      html`<a class="email" href="${operatedPath(account.id)}">${account.email}</a>`,
      account.name,
      stateOf(account),
      number(account.balance),
      account.seenAt === null ? html`<span class="soft">${texts.never}</span>` : ago(account.seenAt, now),
      moment(account.createdAt),
    ]),
  });
}

function stateOf({ role, suspendedAt }: Account): Html {
  return html`${suspendedAt === null ? badge(texts.open, 'good') : badge(texts.suspended, 'bad')}
  ${role === 'operator' && badge(texts.operator, 'information')}`;
}

/** What was wrong with a field of a form, and what was sent in it. */
function sent(name: string, form: FormError['form'], error: FormError | undefined): { value?: string; error?: string } {
  if (error?.form !== form) return {};
  const value = error.values[name];
  return { ...(value === undefined ? {} : { value }), ...(error.field === name ? { error: error.message } : {}) };
}

function alert(form: FormError['form'], error: FormError | undefined): Html | false {
  return error?.form === form && error.field === null && html`<p role="alert">${error.message}</p>`;
}

function makeForm(error: FormError | undefined): Html {
  return html`<form class="form" method="post" action="${PATHS.accounts}">
    ${alert('make', error)}
    ${field({
      ...{ label: texts.email, name: 'email', ...sent('email', 'make', error) },
      attributes: { type: 'email', maxlength: 254, required: true, autocomplete: 'off' },
    })}
    ${field({
      ...{ label: texts.optional, name: 'name', ...sent('name', 'make', error) },
      attributes: { maxlength: 100, autocomplete: 'off', dir: 'auto' },
    })}
    <div class="row">${button({ label: texts.makeSubmit, icon: 'add' })}</div>
  </form>`;
}

interface OperatedState {
  packs: readonly Pack[];
  /** Milliseconds since 1970. */
  now: number;
  /** Suspended with one click, it is resumed with another. */
  undo: HtmlValue;
  notice: unknown;
  error: FormError | undefined;
}

export function operatedView(account: ListedAccount, { packs, now, undo, notice, error }: OperatedState): View {
  const { id, email, name, role, balance, createdAt, suspendedAt, seenAt } = account;
  const about = facts([
    [texts.name, name],
    [
      texts.state,
      html`${stateOf(account)} ${suspendedAt !== null && html`${texts.suspendedAt} ${moment(suspendedAt)}`}`,
    ],
    [texts.balance, number(balance)],
    [texts.seen, seenAt === null ? texts.never : ago(seenAt, now)],
    [texts.created, moment(createdAt)],
    [texts.id, html`<code>${id}</code>`],
  ]);
  const main = html`${noticeOf(notice, undo)}
    <div class="stack">
      <div class="columns">
        ${card({
          title: own.email,
          content: html`<p class="email">${email}</p>
            ${about}`,
        })}
        ${card({ title: texts.grant, id: 'grant', content: grantForm(id, error) })}
      </div>
      ${packs.length > 0 && card({ title: texts.packs, content: packsTable(packs) })}
      <div class="columns">
        ${card({
          ...{ title: texts.role, note: own.roles[role] },
          content: html`<p class="row">
            ${linkButton({ href: operatedPath(id, 'role'), label: texts.makeLinks[otherRole(role)], asks: true })}
          </p>`,
        })}
        ${card({
          ...{ title: texts.link, note: texts.linkNote },
          content: buttonForm(operatedPath(id, 'link'), { label: texts.makeLink, icon: 'link', kind: 'secondary' }),
        })}
        ${suspension(account)} ${accountData(id)}
      </div>
    </div>`;
  return { title: email, main };
}

function grantForm(id: string, error: FormError | undefined): Html {
  return html`<form class="form" method="post" action="${operatedPath(id, 'grant')}">
    ${alert('grant', error)}
    ${field({
      ...{ label: texts.amount, name: 'amount', ...sent('amount', 'grant', error) },
      attributes: {
        ...{ inputmode: 'numeric', pattern: '[0-9]+', title: texts.wholeNumber },
        ...{ required: true, autocomplete: 'off' },
      },
    })}
    ${field({
      ...{ label: texts.expires, name: 'expires', help: texts.expiresHelp, ...sent('expires', 'grant', error) },
      attributes: { type: 'date' },
    })}
    ${field({
      ...{ label: texts.payment, name: 'payment', help: texts.paymentHelp, ...sent('payment', 'grant', error) },
      attributes: { maxlength: 255, autocomplete: 'off', spellcheck: 'false' },
    })}
    ${field({
      ...{ label: texts.note, name: 'note', help: texts.noteHelp, ...sent('note', 'grant', error) },
      attributes: { maxlength: 200, autocomplete: 'off', dir: 'auto' },
    })}
    <div class="row">${button({ label: texts.grantSubmit, icon: 'add' })}</div>
  </form>`;
}

function packsTable(packs: readonly Pack[]): Html {
  const { granted, expires, purchased, remaining, spent, payment, note } = texts.packColumns;
  return table({
    caption: texts.packs,
    columns: [granted, expires, purchased, remaining, spent, payment, note],
    figures: [2, 3, 4],
    rows: packs.map((pack) => [
      moment(pack.createdAt),
      pack.expiresAt === null ? texts.neverExpires : moment(pack.expiresAt),
      ...[pack.purchased, pack.remaining, pack.spent].map(number),
      pack.paymentId !== null && html`<code class="ids">${pack.paymentId}</code>`,
      pack.note,
    ]),
  });
}

function suspension({ id, suspendedAt }: Account): Html {
  const resuming = buttonForm(operatedPath(id, 'resume'), { label: texts.resumeSubmit, kind: 'secondary' });
  const suspending = linkButton({
    href: operatedPath(id, 'suspend'),
    ...{ label: texts.suspendSubmit, kind: 'danger', asks: true },
  });
  return card({
    title: texts.suspend,
    note: suspendedAt === null ? texts.suspendNote : texts.resumeNote,
    content: html`<div class="row">${suspendedAt === null ? suspending : resuming}</div>`,
  });
}

function accountData(id: string): Html {
  return card({
    ...{ title: texts.data, note: texts.exportNote },
    content: html`<div class="row">
      ${linkButton({ href: operatedPath(id, 'export'), label: texts.exportLink, icon: 'download', isDownload: true })}
      ${linkButton({ href: operatedPath(id, 'delete'), label: texts.deleteLink, kind: 'danger', asks: true })}
    </div>`,
  });
}

export function otherRole(role: Role): Role {
  return role === 'operator' ? 'user' : 'operator';
}
