/** What an operator is asked before something is done to an account; and the link that lets its user in. */
import type { Account } from '../../ledger/types.js';
import { otherRole } from './accounts-views.js';
import { codeBlock } from './components/code-block.js';
import { field } from './components/field.js';
import { questionView } from './components/question.js';
import { html } from './html.js';
import type { View } from './page.js';
import { operatedPath } from './paths.js';
import { TEXTS } from './texts.js';

const { accounts: texts } = TEXTS;

export function confirmSuspendView({ id, email }: Account): View {
  return questionView({
    ...{ title: texts.suspendTitle, about: email, note: texts.suspendNote, submit: texts.suspendSubmit },
    action: operatedPath(id, 'suspend'),
    back: { href: operatedPath(id), label: texts.dontSuspend },
  });
}

export function confirmRoleView({ id, email, role: present }: Account): View {
  const role = otherRole(present);
  return questionView({
    ...{ title: texts.roleTitles[role], about: email, note: texts.roleNotes[role], submit: texts.roleSubmits[role] },
    action: operatedPath(id, 'role'),
    value: { name: 'role', value: role },
    isDangerous: role === 'operator',
    back: { href: operatedPath(id), label: texts.dontChange },
  });
}

export function confirmDeleteView({ id, email }: Account, error?: string): View {
  return questionView({
    ...{ title: texts.deleteTitle, about: email, note: texts.deleteNote, submit: texts.deleteSubmit },
    action: operatedPath(id, 'delete'),
    back: { href: operatedPath(id), label: texts.keep },
    fields: field({
      ...{ label: texts.deleteConfirm, name: 'email', error, id: 'confirm-email' },
      attributes: { required: true, autocomplete: 'off', spellcheck: 'false' },
    }),
  });
}

export function madeLinkView({ id, email }: Account, link: string): View {
  const main = html`<div class="stack">
    <p>${texts.madeLink} <strong class="email">${email}</strong>:</p>
    ${codeBlock({ id: 'link', label: texts.link, text: link })}
    <p>${texts.linkNote}</p>
    <p><a href="${operatedPath(id)}">${texts.back}</a></p>
  </div>`;
  return { title: texts.link, main, modules: ['copy.js'] };
}
