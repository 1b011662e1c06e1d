import { html, type Html } from './html.js';
import { TEXTS, type Notice } from './texts.js';

/** What the page before has done, by its name in the address; anything else says nothing. */
export function noticeOf(name: unknown): Html | null {
  if (typeof name !== 'string' || !Object.hasOwn(TEXTS.notices, name)) return null;
  return html`<p class="notice" role="status">${TEXTS.notices[name as Notice]}</p>`;
}
