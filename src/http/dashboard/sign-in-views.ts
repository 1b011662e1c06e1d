import { html } from './html.js';
import { noticeOf } from './notice.js';
import type { View } from './page.js';
import { PATHS } from './paths.js';
import type { Site } from './site.js';
import { TEXTS } from './texts.js';

const { signIn: texts } = TEXTS;

interface SignInState {
  next: string;
  email?: string;
  error?: string;
  notice?: unknown;
}

export function signInView({ isPrivate }: Site, state: SignInState): View {
  const { next, email = '', error, notice } = state;
  const main = html`${noticeOf(notice)}
    ${isPrivate ? form(next, email, error) : html`<p role="alert">${TEXTS.errors.notPrivate}</p>`}
    <p>${texts.noPassword}</p>
    <pre tabindex="0">${texts.command} ${email || 'ada@example.org'}</pre>`;
  return { title: texts.title, main };
}

function form(next: string, email: string, error?: string) {
  return html`<form class="card" method="post" action="${PATHS.signIn}">
    ${error !== undefined && html`<p id="error" role="alert">${error}</p>`}
    <input type="hidden" name="next" value="${next}" />
    <label>
      ${texts.email}
      <input type="email" name="email" value="${email}" maxlength="254" required autocomplete="username" />
    </label>
    <label>
      ${texts.password}
      <input
        type="password"
        name="password"
        maxlength="1024"
        required
        autocomplete="current-password"
        ${error !== undefined && html`aria-describedby="error"`}
      />
    </label>
    <button>${texts.submit}</button>
  </form>`;
}

/** null: the link does not work. */
export function linkView(link: { token: string; email: string } | null): View {
  const title = texts.linkTitle;
  if (link === null) return { title, main: html`<p role="alert">${texts.linkGone}</p>` };
  const main = html`<form class="card" method="post" action="${PATHS.link}">
    <p>${texts.linkFor} <strong class="email">${link.email}</strong>.</p>
    <input type="hidden" name="token" value="${link.token}" />
    <button>${texts.continue}</button>
  </form>`;
  return { title, main };
}
