import { html, type Html, type HtmlValue } from '../html.js';
import { icon } from './icon.js';

/** What is done more rarely, behind a button that opens without scripts, too. */
export function menu(label: string, items: readonly HtmlValue[]): Html {
  return html`<details class="menu">
    <summary class="button quiet icon-only" aria-label="${label}">${icon('more')}</summary>
    <ul>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
  </details>`;
}
