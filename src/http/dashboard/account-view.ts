import type { Session, SignedIn } from '../../ledger/access/types.js';
import { browserName } from './browser-name.js';
import { minuteOf, moment } from './format.js';
import { html, type Html } from './html.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { endSessionPath, PATHS } from './paths.js';
import { table } from './components/table.js';
import { TEXTS } from './texts.js';

const { account: texts } = TEXTS;

/** 'free': without the current password; 'with-current': with it; 'needs-link': only by a new sign-in link. */
export type PasswordForm = 'free' | 'with-current' | 'needs-link';

interface AccountState {
  sessions: readonly Session[];
  form: PasswordForm;
  notice: unknown;
  error: string | undefined;
}

export function accountView({ account, session, hasPassword }: SignedIn, state: AccountState): View {
  const main = html`${noticeOf(state.notice)}
    <dl class="facts">
      <dt>${texts.email}</dt>
      <dd class="email">${account.email}</dd>
      ${
        account.name !== null &&
        html`<dt>${texts.name}</dt>
          <dd dir="auto">${account.name}</dd>`
      }
      <dt>${texts.role}</dt>
      <dd>${texts.roles[account.role]}</dd>
    </dl>
    <section>
      <h2>${texts.passwordTitle}</h2>
      <p>${hasPassword ? texts.isSet : texts.notSet}</p>
      ${state.form === 'needs-link' ? html`<p>${texts.needsLink}</p>` : passwordForm(state)}
    </section>
    <section>
      <h2>${texts.sessionsTitle}</h2>
      <p>${texts.ends}</p>
      ${sessionTable(state.sessions, session)}
      ${
        state.sessions.length > 1 &&
        html`<form method="post" action="${PATHS.endOthers}"><button>${texts.endOthers}</button></form>`
      }
    </section>`;
  return { title: TEXTS.pages.account, main };
}

function passwordForm({ form, error }: AccountState): Html {
  const described = error !== undefined && html`aria-describedby="error"`;
  return html`<form class="card" method="post" action="${PATHS.password}">
    ${error !== undefined && html`<p id="error" role="alert">${error}</p>`}
    ${
      form === 'with-current' &&
      html`<label>
        ${texts.current}
        <input type="password" name="current" maxlength="1024" required autocomplete="current-password" ${described} />
      </label>`
    }
    <label>
      ${texts.fresh}
      <input type="password" name="password" maxlength="1024" required autocomplete="new-password" ${described} />
    </label>
    <label>
      ${texts.again}
      <input type="password" name="again" maxlength="1024" required autocomplete="new-password" />
    </label>
    <p>${texts.rule} ${texts.setNote}</p>
    <button>${texts.set}</button>
  </form>`;
}

function sessionTable(sessions: readonly Session[], own: Session): Html {
  return table({
    caption: texts.sessionsTitle,
    columns: [texts.browser, texts.address, texts.method, texts.begun, texts.seen, texts.action],
    rows: sessions.map(({ id, browser, address, method, createdAt, seenAt }) => [
      html`<span title="${browser}">${browserName(browser)}</span>`,
      address,
      texts.methods[method],
      moment(createdAt),
      moment(seenAt),
      id === own.id ? texts.thisOne : endButton(id, createdAt),
    ]),
  });
}

function endButton(id: string, createdAt: string): Html {
  const label = texts.endThe(minuteOf(createdAt));
  return html`<form method="post" action="${endSessionPath(id)}">
    <button class="quiet" aria-label="${label}">${texts.end}</button>
  </form>`;
}
