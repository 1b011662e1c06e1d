import type { Account, Role } from '../../ledger/types.js';
import { moment, number } from './format.js';
import { html, type Html } from './html.js';
import { noticeOf } from './notice.js';
import { packTable, type Pack } from './overview.js';
import type { View } from './page.js';
import { operatedPath, PATHS } from './paths.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';

const { accounts: texts, account: own } = TEXTS;

/** Of one of a page's forms. */
export interface FormError {
  form: 'make' | 'grant';
  message: string;
}

type Listed = Account & { balance: number };

interface ListState {
  /** Cursor; null: this is the last page. */
  next: string | null;
  isFirst: boolean;
  notice: unknown;
  error: FormError | undefined;
}

export function accountsView(accounts: readonly Listed[], { next, isFirst, notice, error }: ListState): View {
  const main = html`${noticeOf(notice)}
    <section>
      <h2>${texts.make}</h2>
      <form class="card" method="post" action="${PATHS.accounts}">
        ${alert('make', error)}
        <label>${texts.email} <input type="email" name="email" maxlength="254" required autocomplete="off" /></label>
        <label>${texts.optional} <input name="name" maxlength="100" autocomplete="off" dir="auto" /></label>
        <button>${texts.makeSubmit}</button>
      </form>
    </section>
    <section>
      <h2>${texts.list}</h2>
      ${table({
        caption: texts.list,
        columns: [texts.email, texts.name, texts.role, texts.balance, texts.created],
        figures: [3],
        rows: accounts.map(({ id, email, name, role, balance, createdAt, suspendedAt }) => [
          html`<a class="email" href="${operatedPath(id)}">${email}</a>`,
          name,
          suspendedAt === null ? own.roles[role] : `${own.roles[role]}, ${texts.suspended}`,
          number(balance),
          moment(createdAt),
        ]),
      })}
      <p class="row">
        ${!isFirst && html`<a href="${PATHS.accounts}">${texts.first}</a>`}
        ${next !== null && html`<a rel="next" href="${PATHS.accounts}?after=${next}">${texts.next}</a>`}
      </p>
    </section>`;
  return { title: TEXTS.pages.accounts, main };
}

function alert(form: FormError['form'], error: FormError | undefined): Html | false {
  return error?.form === form && html`<p role="alert">${error.message}</p>`;
}

interface OperatedState {
  packs: readonly Pack[];
  notice: unknown;
  error: FormError | undefined;
}

export function operatedView(account: Listed, { packs, notice, error }: OperatedState): View {
  const { id, email, name, role, balance, createdAt, suspendedAt } = account;
  const main = html`${noticeOf(notice)}
    <dl class="facts">
      <dt>${texts.name}</dt>
      <dd dir="auto">${name}</dd>
      <dt>${texts.role}</dt>
      <dd>${own.roles[role]}</dd>
      <dt>${texts.balance}</dt>
      <dd>${number(balance)}</dd>
      <dt>${texts.created}</dt>
      <dd>${moment(createdAt)}</dd>
      <dt>${texts.state}</dt>
      <dd>${suspendedAt === null ? texts.open : html`${texts.suspendedAt} ${moment(suspendedAt)}`}</dd>
    </dl>
    <h2>${texts.grant}</h2>
    <form class="card" method="post" action="${operatedPath(id, 'grant')}">
      ${alert('grant', error)}
      <label>
        ${texts.amount}
        <input
          name="amount"
          inputmode="numeric"
          pattern="[0-9]+"
          title="${texts.wholeNumber}"
          required
          autocomplete="off"
        />
      </label>
      <label>${texts.expires} <input type="date" name="expires" /></label>
      <button>${texts.grant}</button>
    </form>
    ${packs.length > 0 && packTable(packs)}
    <h2>${texts.role}</h2>
    <p>${own.roles[role]}</p>
    <p class="row"><a href="${operatedPath(id, 'role')}">${texts.makeLinks[otherRole(role)]}</a></p>
    <h2>${texts.link}</h2>
    <form class="card" method="post" action="${operatedPath(id, 'link')}">
      <p>${texts.linkNote}</p>
      <button>${texts.makeLink}</button>
    </form>
    ${ending(account)}`;
  return { title: email, main };
}

/** Suspended or resumed, exported, deleted. */
function ending({ id, suspendedAt }: Account): Html {
  const suspending = html`<p>${texts.suspendNote}</p>
    <p class="row"><a href="${operatedPath(id, 'suspend')}">${texts.suspendLink}</a></p>`;
  const resuming = html`<form class="card" method="post" action="${operatedPath(id, 'resume')}">
    <p>${texts.resumeNote}</p>
    <button>${texts.resumeSubmit}</button>
  </form>`;
  return html`<h2>${texts.suspend}</h2>
    ${suspendedAt === null ? suspending : resuming}
    <h2>${texts.data}</h2>
    <p>${texts.exportNote}</p>
    <p class="row">
      <a href="${operatedPath(id, 'export')}" download>${texts.exportLink}</a>
      <a href="${operatedPath(id, 'delete')}">${texts.deleteLink}</a>
    </p>`;
}

interface Question {
  action: 'role' | 'suspend' | 'delete';
  title: string;
  note: string;
  submit: string;
  cancel: string;
  /** The fields of the form. */
  fields?: Html;
  isDangerous?: boolean;
}

/** Names the account, says what will happen, and does nothing before its button is pressed. */
function questionView({ id, email }: Account, question: Question): View {
  const { action, title, note, submit, cancel, fields, isDangerous = true } = question;
  const main = html`<form class="card" method="post" action="${operatedPath(id, action)}">
    <p><strong class="email">${email}</strong></p>
    <p>${note}</p>
    ${fields}
    <div class="row">
      <button class="${isDangerous ? 'danger' : ''}">${submit}</button>
      <a href="${operatedPath(id)}">${cancel}</a>
    </div>
  </form>`;
  return { title, main };
}

export function confirmSuspendView(account: Account): View {
  const { suspendTitle: title, suspendNote: note, suspendSubmit: submit, dontSuspend: cancel } = texts;
  return questionView(account, { action: 'suspend', title, note, submit, cancel });
}

export function confirmRoleView(account: Account): View {
  const role = otherRole(account.role);
  return questionView(account, {
    action: 'role',
    title: texts.roleTitles[role],
    note: texts.roleNotes[role],
    submit: texts.roleSubmits[role],
    cancel: texts.dontChange,
    fields: html`<input type="hidden" name="role" value="${role}" />`,
    isDangerous: role === 'operator',
  });
}

export function confirmDeleteView(account: Account, error?: string): View {
  const { deleteTitle: title, deleteNote: note, deleteSubmit: submit, keep: cancel } = texts;
  const fields = html`${error !== undefined && html`<p id="error" role="alert">${error}</p>`}
    <label>
      ${texts.deleteConfirm}
      <input
        name="email"
        required
        autocomplete="off"
        spellcheck="false"
        ${error !== undefined && html`aria-describedby="error"`}
      />
    </label>`;
  return questionView(account, { action: 'delete', title, note, submit, cancel, fields });
}

function otherRole(role: Role): Role {
  return role === 'operator' ? 'user' : 'operator';
}

export function madeLinkView({ id, email }: Account, link: string): View {
  const main = html`<p>${texts.madeLink} <strong class="email">${email}</strong>:</p>
    <div>
      <pre id="link" tabindex="0">${link}</pre>
      <button type="button" data-copy="link" data-copied="${texts.copied}" hidden>${texts.copy}</button>
      <span role="status"></span>
    </div>
    <p>${texts.linkNote}</p>
    <p><a href="${operatedPath(id)}">${texts.back}</a></p>`;
  return { title: texts.link, main, modules: ['copy.js'] };
}
