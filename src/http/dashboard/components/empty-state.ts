import { html, type Html, type HtmlValue } from '../html.js';
import { icon, type IconName } from './icon.js';

interface EmptyState {
  icon: IconName;
  title: string;
  /** What to do about it. */
  text?: HtmlValue;
  action?: HtmlValue;
}

/** In place of a table without rows. */
export function emptyState({ icon: name, title, text, action }: EmptyState): Html {
  return html`<div class="empty">
    ${icon(name)}
    <p class="empty-title">${title}</p>
    ${text !== undefined && html`<p>${text}</p>`} ${action}
  </div>`;
}
