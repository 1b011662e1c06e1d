import { html, type Html } from './html.js';
import { TEXTS, type Notice } from './texts.js';

/** The result of the action on the page before, by its name in the address; unknown names show nothing. */
export function noticeOf(name: unknown): Html | null {
  if (typeof name !== 'string' || !Object.hasOwn(TEXTS.notices, name)) return null;
  return html`<p class="notice" role="status">${TEXTS.notices[name as Notice]}</p>`;
}
