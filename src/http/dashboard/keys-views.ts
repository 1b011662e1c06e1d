import type { ApiKey, Role } from '../../ledger/types.js';
import { ADMIN_SCOPE, MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import { moment } from './format.js';
import { html, type Html } from './html.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { PATHS, revokePath } from './paths.js';
import type { Site } from './site.js';
import { table } from './table.js';
import { TEXTS } from './texts.js';

const { keys: texts } = TEXTS;

export type KeyKind = 'plain' | 'management' | 'admin';

interface KeysState {
  /** Of who looks. */
  role: Role;
  notice?: unknown;
  /** Of a form that was refused. */
  error?: string;
  name?: string;
  kind?: KeyKind;
}

export function keysView(keys: readonly ApiKey[], state: KeysState): View {
  const main = html`${noticeOf(state.notice)}
    <section>
      <h2>${texts.make}</h2>
      ${makeForm(state)}
    </section>
    <section>
      <h2>${texts.list}</h2>
      ${keys.length === 0 ? html`<p>${texts.none}</p>` : keyTable(keys)}
    </section>`;
  return { title: TEXTS.pages.keys, main };
}

function makeForm({ role, error, name = '', kind = 'plain' }: KeysState): Html {
  const choice = (value: KeyKind, label: string): Html =>
    html`<label class="choice">
      <input type="radio" name="kind" value="${value}" ${value === kind && html`checked`} />
      ${label}
    </label>`;
  return html`<form class="card" method="post" action="${PATHS.keys}">
    ${error !== undefined && html`<p id="error" role="alert">${error}</p>`}
    <label>
      ${texts.name}
      <input
        name="name"
        value="${name}"
        maxlength="100"
        required
        autocomplete="off"
        dir="auto"
        ${error !== undefined && html`aria-describedby="error"`}
      />
    </label>
    <fieldset>
      <legend>${texts.kind}</legend>
      ${choice('plain', texts.plain)} ${choice('management', texts.management)}
      ${role === 'operator' && choice('admin', texts.admin)}
    </fieldset>
    <button>${texts.submit}</button>
  </form>`;
}

function keyTable(keys: readonly ApiKey[]): Html {
  return table({
    caption: texts.list,
    columns: [texts.name, texts.prefix, texts.scopes, texts.created, texts.used, texts.status, texts.action],
    rows: keys.map((key) => [
      key.name,
      html`<code>${key.prefix}…</code>`,
      texts.scope[kindOfKey(key)],
      moment(key.createdAt),
      key.lastUsedAt === null ? texts.never : moment(key.lastUsedAt),
      key.revokedAt === null ? texts.live : html`${texts.revokedAt} ${moment(key.revokedAt)}`,
      key.revokedAt === null &&
        html`<a href="${revokePath(key.id)}" aria-label="${texts.revokeThe(key.name)}">${texts.revoke}</a>`,
    ]),
  });
}

function kindOfKey({ scopes }: ApiKey): KeyKind {
  if (scopes.includes(ADMIN_SCOPE)) return 'admin';
  return scopes.includes(MANAGEMENT_SCOPE) ? 'management' : 'plain';
}

/** The one page that shows a raw key. */
export function madeKeyView(rawKey: string, { origin }: Site): View {
  const bearer = `curl -H 'Authorization: Bearer ${rawKey}'`;
  const main = html`<p role="status">${texts.once}</p>
    <p class="row">
      <code class="raw" id="raw-key">${rawKey}</code>
      <button type="button" data-copy="raw-key" data-copied="${texts.copied}" hidden>${texts.copy}</button>
      <span role="status"></span>
    </p>
    <h2>${texts.tryIt}</h2>
    ${command('try-command', `${bearer} ${origin}/api/v1/me`)}
    <h2>${texts.transcribe}</h2>
    ${command('transcribe-command', `${bearer} -F 'audio=@${texts.transcribeFile}' ${origin}/api/v1/transcribe`)}
    <p><a href="${PATHS.keys}">${texts.back}</a></p>`;
  return { title: texts.made, main, modules: ['copy.js'] };
}

function command(id: string, line: string): Html {
  const button = html`<button type="button" data-copy="${id}" data-copied="${texts.copied}" hidden>
    ${texts.copy}
  </button>`;
  return html`<div>
    <pre id="${id}" tabindex="0">${line}</pre>
    ${button} <span role="status"></span>
  </div>`;
}

export function confirmView(key: ApiKey): View {
  const main = html`<form class="card" method="post" action="${revokePath(key.id)}">
    <p>
      <strong dir="auto">${key.name}</strong>
      <code>${key.prefix}…</code>
    </p>
    <p>${texts.confirm}</p>
    <div class="row">
      <button class="danger">${texts.revoke}</button>
      <a href="${PATHS.keys}">${texts.cancel}</a>
    </div>
  </form>`;
  return { title: texts.revokeTitle, main };
}
