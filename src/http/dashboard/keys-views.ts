import type { ApiKey, Role } from '../../ledger/types.js';
import { ADMIN_SCOPE, MANAGEMENT_SCOPE } from '../../ledger/scopes.js';
import { badge } from './components/badge.js';
import { button, linkButton } from './components/button.js';
import { card } from './components/card.js';
import { codeBlock, copyButton } from './components/code-block.js';
import { emptyState } from './components/empty-state.js';
import { field } from './components/field.js';
import { questionView } from './components/question.js';
import { table } from './components/table.js';
import { banner } from './components/toast.js';
import { ago, moment } from './format.js';
import { html, type Html } from './html.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { PATHS, revokePath } from './paths.js';
import type { Site } from './site.js';
import { TEXTS } from './texts.js';

const { keys: texts } = TEXTS;

export type KeyKind = 'plain' | 'management' | 'admin';

interface KeysState {
  /** Of who looks. */
  role: Role;
  /** Milliseconds since 1970. */
  now: number;
  notice?: unknown;
  /** Of a form that was refused. */
  error?: string;
  name?: string;
  kind?: KeyKind;
}

export function keysView(keys: readonly ApiKey[], state: KeysState): View {
  const live = keys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  const main = html`${noticeOf(state.notice)}
    <div class="stack">
      ${card({ title: texts.make, content: makeForm(state) })}
      ${card({
        title: texts.list,
        content:
          live.length === 0
            ? emptyState({ icon: 'keys', title: texts.none, text: texts.noneText })
            : liveTable(live, state.now),
      })}
      ${revoked.length > 0 && revokedKeys(revoked, state.now)}
    </div>`;
  return { title: TEXTS.pages.keys, main };
}

function makeForm({ role, error, name = '', kind = 'plain' }: KeysState): Html {
  const choice = (value: KeyKind, label: string): Html =>
    html`<label class="choice">
      <input type="radio" name="kind" value="${value}" ${value === kind && html`checked`} />
      ${label}
    </label>`;
  return html`<form class="form" method="post" action="${PATHS.keys}">
    ${field({
      ...{ label: texts.name, name: 'name', value: name, error },
      attributes: { maxlength: 100, required: true, autocomplete: 'off', dir: 'auto' },
    })}
    <fieldset>
      <legend>${texts.kind}</legend>
      ${choice('plain', texts.plain)} ${choice('management', texts.management)}
      ${role === 'operator' && choice('admin', texts.admin)}
    </fieldset>
    <div class="row">${button({ label: texts.submit, icon: 'add' })}</div>
  </form>`;
}

function liveTable(keys: readonly ApiKey[], now: number): Html {
  return table({
    caption: texts.list,
    columns: [texts.name, texts.prefix, texts.scopes, texts.created, texts.used, texts.action],
    rows: keys.map((key) => [
      ...cellsOf(key),
      usedAt(key, now),
      linkButton({
        href: revokePath(key.id),
        ...{ label: texts.revoke, fullLabel: texts.revokeThe(key.name), kind: 'danger', asks: true },
      }),
    ]),
  });
}

function revokedKeys(keys: readonly ApiKey[], now: number): Html {
  const caption = texts.revokedList(keys.length);
  return html`<details class="card">
    <summary>${caption}</summary>
    ${table({
      caption,
      columns: [texts.name, texts.prefix, texts.scopes, texts.created, texts.used, texts.revokedAt],
      rows: keys.map((key) => [...cellsOf(key), usedAt(key, now), key.revokedAt !== null && moment(key.revokedAt)]),
    })}
  </details>`;
}

function cellsOf(key: ApiKey): Html[] {
  const kind = kindOfKey(key);
  return [
    html`${key.name}`,
    html`<code>${key.prefix}…</code>`,
    badge(texts.scope[kind], kind === 'plain' ? 'neutral' : 'warning'),
    moment(key.createdAt),
  ];
}

function usedAt({ lastUsedAt }: ApiKey, now: number): Html {
  return lastUsedAt === null ? html`<span class="soft">${texts.never}</span>` : ago(lastUsedAt, now);
}

function kindOfKey({ scopes }: ApiKey): KeyKind {
  if (scopes.includes(ADMIN_SCOPE)) return 'admin';
  return scopes.includes(MANAGEMENT_SCOPE) ? 'management' : 'plain';
}

/** The one page that shows a raw key. */
export function madeKeyView(rawKey: string, { origin }: Site): View {
  const bearer = `curl -H 'Authorization: Bearer ${rawKey}'`;
  const transcribe = `${bearer} -F 'audio=@${texts.transcribeFile}' ${origin}/api/v1/transcribe`;
  const main = html`<div class="stack">
    ${banner('warning', html`<p role="status">${texts.once}</p>`)}
    <p class="row"><code class="raw" id="raw-key">${rawKey}</code> ${copyButton('raw-key')}</p>
    ${card({
      title: texts.tryIt,
      content: codeBlock({ id: 'try-command', label: texts.tryIt, text: `${bearer} ${origin}/api/v1/me` }),
    })}
    ${card({
      title: texts.transcribe,
      content: codeBlock({ id: 'transcribe-command', label: texts.transcribe, text: transcribe }),
    })}
    <p><a href="${PATHS.keys}">${texts.back}</a></p>
  </div>`;
  return { title: texts.made, main, modules: ['copy.js'] };
}

export function confirmView(key: ApiKey): View {
  return questionView({
    title: texts.revokeTitle,
    about: html`${key.name} <code>${key.prefix}…</code>`,
    note: texts.confirm,
    action: revokePath(key.id),
    submit: texts.revoke,
    back: { href: PATHS.keys, label: texts.cancel },
  });
}
